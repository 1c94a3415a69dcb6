/** Builds of the product with trouble planted at a named point, or with a check taken out. */

import { type MutatedBuild, type Mutation, mutatedBuild } from "@nightwriter/testkit";

const sending = "packages/ledger/src/send-write.ts";
const writing = "packages/ledger/src/guarded-write.ts";

/** Logged at the named point, with the partition, before the trouble begins. */
export const troubleMessage = "trouble planted here";

/**
 * Trouble after a batch was made up under its term and before its statement is sent, once, at the first batch after the process
 * got SIGUSR2.
 */
function beforeSending(trouble: string): Mutation[] {
  return [
    {
      file: sending,
      replace: "/** Sends one statement over the items,",
      by: `let armed = false;
process.on("SIGUSR2", () => { armed = true; });
/** Sends one statement over the items,`,
    },
    {
      file: sending,
      replace: "const { rows, warnings } = await context.database.run(",
      by: `if (armed) {
        armed = false;
        const { term } = context;
        const line = { level: 40, msg: ${JSON.stringify(troubleMessage)}, partition: term.partition, fencingToken: String(term.fencingToken), items: items.length, atNs: String(process.hrtime.bigint()) };
        process.stdout.write(JSON.stringify(line) + "\\n");
        ${trouble}
      }
      const { rows, warnings } = await context.database.run(`,
    },
  ];
}

/** The process stops there, until it gets SIGCONT. */
export const freezing: readonly Mutation[] = beforeSending(`process.kill(process.pid, "SIGSTOP");`);

/** The event loop stands still there for so long; without a load on the machine. */
export function blocking(ms: number): readonly Mutation[] {
  return beforeSending(`Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${ms});`);
}

/** Nobody looks whether the term is mine, nor whether the row was written under a larger token. */
export const withoutTokenCheck: readonly Mutation[] = [
  {
    file: writing,
    replace: `.where("fencing_token", "=", fencingToken)`,
    by: ".where(sql<boolean>`${fencingToken} is not null`)",
  },
  {
    file: writing,
    replace: `.where("nonce", "=", parameter<string>("nonce", "uuid"))`,
    by: `.where(sql<boolean>\`\${parameter<string>("nonce", "uuid")} is not null\`)`,
  },
  { file: writing, replace: `.whereRef("it.fencing_token", "<=", "term.fencing_token")`, by: "" },
];

/** Nobody looks whether the version that the delta was computed from is the one that is moved. */
export const withoutVersionCheck: readonly Mutation[] = [
  { file: writing, replace: `.whereRef("it.version", "=", "delta.version")`, by: "" },
  { file: writing, replace: `.whereRef("delta.locked_version", "=", "delta.version")`, by: "" },
];

export function planted(...mutations: readonly (readonly Mutation[])[]): MutatedBuild {
  return mutatedBuild(...mutations.flat());
}
