/** The command line. */
import { parseArgs } from "node:util";
import { Fault } from "@nightwriter/core";
import { type ComparedFigure, comparedFigures } from "./against/sides.ts";
import { type Row } from "./rows/row.ts";
import { type Scale, scales } from "./scale.ts";

/** - `bounds`: each figure is held against its own baseline. - `against`: against the same of an earlier build. */
export type Options = {
  readonly json: boolean;
  readonly pairCount: number;
  readonly scale: Scale;
} & (
  | { readonly kind: "bounds"; readonly rows: readonly Row[] }
  | { readonly kind: "against"; readonly revision: string; readonly figures: readonly ComparedFigure[] }
);

const defaultPairs = { bounds: 5, against: 25 };
const mostPairs = 25;

export function usage(rows: readonly Row[]): string {
  return `usage: pnpm bench [--json] [--pairs N] [--only NAME]… [--scale full|small] [--against REVISION]

  --json          one JSON document on stdout instead of the table
  --pairs N       pairs that are measured for each row, besides one to warm up (${defaultPairs.bounds}; with --against at most ${defaultPairs.against})
  --only NAME     some rows only: ${rows.map(({ name }) => name).join(", ")}
  --scale small   seconds of work, to see that everything runs; its figures say nothing
  --against REV   the same work by the build of that commit, in turns with this one, until the 95 % interval of the
                  median ratio is ± 0.03, or the pairs or an hour are over; rows: ${comparedFigures.join(", ")}

Exit code: 0 every bound is reached, or nothing is slower than before; 1 a fault; 2 wrong usage; 3 a bound is missed, or the
median of a ratio is below 0.97 and its interval leaves 1 out.`;
}

/** Throws a Fault that says what is wrong with them. */
export function parseOptions(args: readonly string[], rows: readonly Row[]): Options {
  const { json, pairs, only, scale, against } = parse(args);
  const kind = against === undefined ? "bounds" : "against";
  const pairCount = pairs === undefined ? defaultPairs[kind] : Number(pairs);
  if (pairs !== undefined && (!/^\d+$/.test(pairs) || pairCount < 1 || pairCount > mostPairs))
    throw wrong(`--pairs ${pairs}: not a number from 1 to ${mostPairs}`);
  if (scale !== "full" && scale !== "small") throw wrong(`--scale ${scale}: neither full nor small`);
  const known = against === undefined ? rows.map(({ name }) => name) : comparedFigures;
  const unknown = only.find((name) => !known.some((row) => row === name));
  if (unknown !== undefined) throw wrong(`--only ${unknown}: no such row`);
  const isWanted = (name: string): boolean => only.length === 0 || only.includes(name);
  const common = { json, pairCount, scale: scales[scale] };
  if (against === undefined) return { ...common, kind: "bounds", rows: rows.filter(({ name }) => isWanted(name)) };
  return { ...common, kind: "against", revision: against, figures: comparedFigures.filter(isWanted) };
}

interface Given {
  readonly json: boolean;
  readonly pairs?: string | undefined;
  readonly only: readonly string[];
  readonly scale: string;
  readonly against?: string | undefined;
}

function parse(args: readonly string[]): Given {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        json: { type: "boolean", default: false },
        pairs: { type: "string" },
        only: { type: "string", multiple: true, default: [] },
        scale: { type: "string", default: "full" },
        against: { type: "string" },
      },
    });
    return values;
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
}

function wrong(message: string): Fault<"usage"> {
  return new Fault("usage", message);
}
