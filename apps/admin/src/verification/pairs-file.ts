/** Every pair that differs, one JSON object a line, in a file that was not there before. */
import { type FileHandle, open, rm } from "node:fs/promises";
import { toJson } from "@nightwriter/core";
import type { DifferingPair } from "@nightwriter/ledger";
import { UsageFault } from "../usage-fault.ts";

export class PairsFile implements AsyncDisposable {
  readonly path: string;
  readonly #handle: FileHandle;
  #count = 0;
  #isWhole = false;

  private constructor(path: string, handle: FileHandle) {
    this.path = path;
    this.#handle = handle;
  }

  /** Throws a UsageFault where the file is there already, or cannot be made. */
  static async create(path: string): Promise<PairsFile> {
    try {
      return new PairsFile(path, await open(path, "wx"));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
      const fact = code === "EEXIST" ? "is there already" : `cannot be made (${code})`;
      throw new UsageFault(`option --pairs: file ${path} ${fact}; name one that can be made new`);
    }
  }

  get count(): number {
    return this.#count;
  }

  async add(pairs: readonly DifferingPair[]): Promise<void> {
    await this.#handle.appendFile(pairs.map((pair) => `${toJson(pair)}\n`).join(""));
    this.#count += pairs.length;
  }

  /** All pairs are there. Without it the file goes with this object. */
  keep(): void {
    this.#isWhole = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
    if (!this.#isWhole) await rm(this.path);
  }
}
