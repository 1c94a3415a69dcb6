/**
 * What a file says, whatever program wrote it: without a byte order mark, lines parted by line feeds, none after the last.
 *
 * Spreadsheets and mail change just these when they save or send a file. Its copy must have the same hash, or its sales
 * would count twice. It is done on bytes, because the marks are the same ones in every encoding that is read.
 */

const mark = Buffer.from([0xef, 0xbb, 0xbf]);
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Yields the content in pieces that are not empty. Neither the memory nor the result depends on how `bytes` is cut. At the end, `onEnd` is
 * told whether there was a line end: without, the last line may be half of one.
 */
export async function* plainContent(
  bytes: AsyncIterable<Buffer>,
  onEnd: (endsLine: boolean) => void = () => {},
): AsyncGenerator<Buffer> {
  // A line end at the end of a piece: half of one, or the last one of the file.
  let held = Buffer.alloc(0);
  for await (const piece of withoutMark(bytes)) {
    const whole = Buffer.concat([held, piece]);
    const end = whole.length - lastLineEndLength(whole);
    held = whole.subarray(end);
    if (end > 0) yield withLineFeeds(whole.subarray(0, end));
  }
  onEnd(held.length > 0);
}

async function* withoutMark(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  for await (const piece of bytes) {
    if (start === undefined) {
      yield piece;
      continue;
    }
    start = Buffer.concat([start, piece]);
    if (start.length < mark.length) continue;
    yield start.subarray(start.subarray(0, mark.length).equals(mark) ? mark.length : 0);
    start = undefined;
  }
  if (start !== undefined) yield start;
}

/** A carriage return alone counts: at the end of the file, as half a line end, it says as little. */
function lastLineEndLength(bytes: Buffer): number {
  const last = bytes.at(-1);
  if (last === carriageReturn) return 1;
  if (last !== lineFeed) return 0;
  return bytes.at(-2) === carriageReturn ? 2 : 1;
}

function withLineFeeds(bytes: Buffer): Buffer {
  if (!bytes.includes(carriageReturn)) return bytes;
  // As latin1 each byte is one character, and the way back is exact.
  return Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
}
