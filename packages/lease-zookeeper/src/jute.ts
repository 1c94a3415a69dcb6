/** Jute, ZooKeeper's encoding: big-endian numbers, and strings and buffers behind their length. */

/** ZooKeeper's own limit; what claims more is another protocol. */
const MAX_FRAME = 1_048_575;

/** A field of a record, by its type in ZooKeeper's definition. */
export type JuteField =
  | { readonly int: number }
  | { readonly long: bigint }
  | { readonly boolean: boolean }
  | { readonly string: string }
  | { readonly buffer: Buffer };

/** The fields one after the other, behind the length of them all. */
export function juteFrame(fields: readonly JuteField[]): Buffer {
  const body = Buffer.concat(fields.map(encode));
  return Buffer.concat([int(body.length), body]);
}

function encode(field: JuteField): Buffer {
  if ("int" in field) return int(field.int);
  if ("boolean" in field) return Buffer.of(field.boolean ? 1 : 0);
  if ("long" in field) {
    const encoded = Buffer.alloc(8);
    encoded.writeBigInt64BE(field.long);
    return encoded;
  }
  const content = "string" in field ? Buffer.from(field.string) : field.buffer;
  return Buffer.concat([int(content.length), content]);
}

function int(value: number): Buffer {
  const encoded = Buffer.alloc(4);
  encoded.writeInt32BE(value);
  return encoded;
}

/** Reads the fields of one frame in their order. Throws RangeError behind its end. */
export class JuteReader {
  readonly #frame: Buffer;
  #at = 0;

  constructor(frame: Buffer) {
    this.#frame = frame;
  }

  int(): number {
    this.#at += 4;
    return this.#frame.readInt32BE(this.#at - 4);
  }

  long(): bigint {
    this.#at += 8;
    return this.#frame.readBigInt64BE(this.#at - 8);
  }

  /** A buffer that is not there has the length -1, and is empty here. */
  buffer(): Buffer {
    const length = Math.max(this.int(), 0);
    this.#at += length;
    if (this.#at > this.#frame.length) throw new RangeError("a field goes beyond its frame");
    return this.#frame.subarray(this.#at - length, this.#at);
  }

  string(): string {
    return this.buffer().toString();
  }
}

/** The whole frames at the beginning of what was received, and the rest. Throws RangeError if that is not ZooKeeper's. */
export function splitFrames(received: Buffer): { readonly frames: readonly Buffer[]; readonly rest: Buffer } {
  const frames: Buffer[] = [];
  let rest = received;
  while (rest.length >= 4) {
    const length = rest.readInt32BE();
    if (length < 0 || length > MAX_FRAME) throw new RangeError(`a frame of ${length} bytes`);
    if (rest.length < 4 + length) break;
    frames.push(rest.subarray(4, 4 + length));
    rest = rest.subarray(4 + length);
  }
  return { frames, rest };
}
