import { describe, expect, it } from "vitest";
import { JuteReader, juteFrame, splitFrames } from "./jute.ts";

const record = juteFrame([
  { int: -2 },
  { long: -0x7fff_ffff_ffff_fff0n },
  { boolean: true },
  { string: "größe" },
  { buffer: Buffer.of(7, 8) },
]);

describe("juteFrame", () => {
  it("encodes numbers big-endian, and puts its length before each string, buffer and the whole", () => {
    const hex = "0000001e fffffffe 8000000000000010 01 00000007 6772c3b6c39f65 00000002 0708";
    expect(record.toString("hex")).toBe(hex.replaceAll(" ", ""));
  });
});

describe("JuteReader", () => {
  it("reads what was written, in its order", () => {
    const reader = new JuteReader(juteFrame([{ int: 5 }, { long: 6n }, { string: "seven" }]).subarray(4));
    expect([reader.int(), reader.long(), reader.string()]).toEqual([5, 6n, "seven"]);
  });

  it("takes a buffer that is not there for an empty one, and throws behind the end", () => {
    const reader = new JuteReader(juteFrame([{ int: -1 }, { int: 99 }]).subarray(4));
    expect(reader.buffer()).toHaveLength(0);
    expect(() => reader.buffer()).toThrow(RangeError);
    expect(() => reader.long()).toThrow(RangeError);
  });
});

describe("splitFrames", () => {
  it("gives whole frames as they come, wherever they are cut", () => {
    const stream = Buffer.concat([record, record]);
    for (let cut = 0; cut <= stream.length; cut++) {
      const first = splitFrames(stream.subarray(0, cut));
      const second = splitFrames(Buffer.concat([first.rest, stream.subarray(cut)]));
      expect([...first.frames, ...second.frames]).toEqual([record.subarray(4), record.subarray(4)]);
      expect(second.rest).toHaveLength(0);
    }
  });

  it("refuses a length that is no frame's", () => {
    expect(() => splitFrames(Buffer.from("HTTP/1.1 400"))).toThrow(RangeError);
    expect(() => splitFrames(Buffer.from("ffffffff", "hex"))).toThrow(RangeError);
  });
});
