/**
 * What a file says, whatever program wrote it: without a byte order mark, lines parted by line feeds, none after the last, and without
 * the Ctrl-Z by which old tills say that a file ends.
 *
 * Spreadsheets and mail change just these when they save or send a file. Its copy must have the same hash, or its sales
 * would count twice. It is done on bytes, because the marks are the same ones in every encoding that is read.
 */

const mark = Buffer.from([0xef, 0xbb, 0xbf]);
const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const controlZ = 0x1a;
/** Some pad the last block with them. */
const maxControlZs = 2_048;
/** Where no line feed is among so many bytes, the lines end with carriage returns, if anything does. */
const firstBytes = 65_536;

/**
 * Yields the content in pieces that are not empty. Neither the memory nor the result depends on how `bytes` is cut. At the end, `onEnd` is
 * told whether there was a line end: without, the last line may be half of one.
 */
export async function* plainContent(
  bytes: AsyncIterable<Buffer>,
  onEnd: (endsLine: boolean) => void = () => {},
): AsyncGenerator<Buffer> {
  // A line end at the end of a piece, perhaps before Ctrl-Z: half of one, or the last one of the file.
  let held = Buffer.alloc(0);
  for await (const piece of withLineFeedsAtAll(withoutMark(bytes))) {
    const whole = Buffer.concat([held, piece]);
    const end = startOfTail(whole);
    held = whole.subarray(end);
    if (end > 0) yield withLineFeeds(whole.subarray(0, end));
  }
  onEnd(held.includes(lineFeed) || held.includes(carriageReturn));
}

/** Spreadsheets still offer a "CSV (Macintosh)", in which a carriage return alone ends each line. */
async function* withLineFeedsAtAll(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let start: Buffer | undefined = Buffer.alloc(0);
  let isMacintosh = false;
  for await (const piece of bytes) {
    if (start !== undefined) {
      start = Buffer.concat([start, piece]);
      const isUndecided = start.length < firstBytes || start.at(-1) === carriageReturn;
      if (isUndecided && !start.includes(lineFeed)) continue;
      isMacintosh = !start.includes(lineFeed);
      yield isMacintosh ? returnsAsLineFeeds(start) : start;
      start = undefined;
    } else {
      yield isMacintosh ? returnsAsLineFeeds(piece) : piece;
    }
  }
  if (start !== undefined) yield returnsAsLineFeeds(start);
}

function returnsAsLineFeeds(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("latin1").replaceAll("\r", "\n"), "latin1");
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

/** Where the last line end begins, with the Ctrl-Zs before or behind it. */
function startOfTail(bytes: Buffer): number {
  const line = beforeLineEnd(bytes, bytes.length);
  let at = line;
  while (bytes[at - 1] === controlZ && line - at < maxControlZs) at -= 1;
  return at === line ? line : beforeLineEnd(bytes, at);
}

/** A carriage return alone counts: at the end of the file, as half a line end, it says as little. */
function beforeLineEnd(bytes: Buffer, end: number): number {
  const last = bytes[end - 1];
  if (last === carriageReturn) return end - 1;
  if (last !== lineFeed) return end;
  return bytes[end - 2] === carriageReturn ? end - 2 : end - 1;
}

function withLineFeeds(bytes: Buffer): Buffer {
  if (!bytes.includes(carriageReturn)) return bytes;
  // As latin1 each byte is one character, and the way back is exact.
  return Buffer.from(bytes.toString("latin1").replaceAll("\r\n", "\n"), "latin1");
}
