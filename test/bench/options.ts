/** The command line. */
import { parseArgs } from "node:util";
import { Fault } from "@nightwriter/core";
import { type Row } from "./rows/row.ts";
import { type Scale, scales } from "./scale.ts";

export interface Options {
  readonly json: boolean;
  readonly pairCount: number;
  readonly rows: readonly Row[];
  readonly scale: Scale;
}

export function usage(rows: readonly Row[]): string {
  return `usage: pnpm bench [--json] [--pairs N] [--only NAME]… [--scale full|small]

  --json        one JSON document on stdout instead of the table
  --pairs N     pairs that are measured for each row, besides one to warm up (5)
  --only NAME   some rows only: ${rows.map(({ name }) => name).join(", ")}
  --scale small seconds of work, to see that everything runs; its figures say nothing

Exit code: 0 every bound is reached, 1 a fault, 2 wrong usage, 3 a bound is missed.`;
}

/** Throws a Fault that says what is wrong with them. */
export function parseOptions(args: readonly string[], rows: readonly Row[]): Options {
  const { json, pairs, only, scale } = parse(args);
  const pairCount = Number(pairs);
  if (!/^\d+$/.test(pairs) || pairCount < 1 || pairCount > 20)
    throw wrong(`--pairs ${pairs}: not a number from 1 to 20`);
  if (scale !== "full" && scale !== "small") throw wrong(`--scale ${scale}: neither full nor small`);
  const unknown = only.find((name) => !rows.some((row) => row.name === name));
  if (unknown !== undefined) throw wrong(`--only ${unknown}: no such row`);
  return {
    json,
    pairCount,
    rows: only.length === 0 ? rows : rows.filter(({ name }) => only.includes(name)),
    scale: scales[scale],
  };
}

function parse(args: readonly string[]): { json: boolean; pairs: string; only: string[]; scale: string } {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        json: { type: "boolean", default: false },
        pairs: { type: "string", default: "5" },
        only: { type: "string", multiple: true, default: [] },
        scale: { type: "string", default: "full" },
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
