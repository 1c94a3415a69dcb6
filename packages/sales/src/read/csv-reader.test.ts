import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CsvReader, type CsvRecord, type CsvStyle, splitLine } from "./csv-reader.ts";

function read(text: string, style: CsvStyle = {}): CsvRecord[] {
  const reader = new CsvReader(style);
  return [...reader.read(text), ...reader.end()];
}

/** "first line: fields", or the reason. */
function show(records: readonly CsvRecord[]): string[] {
  return records.map(({ line, fields, broken }) => `${line}: ${broken ?? fields.join("|")}`);
}

const unclosed = "a quote opens a field and does not close it, or not at its end";

describe("CsvReader", () => {
  it("splits plain lines, with or without a line end at the end", () => {
    expect(show(read("a,b\n1,2\n"))).toEqual(["1: a|b", "2: 1|2"]);
    expect(show(read("a,b\r\n1,2"))).toEqual(["1: a|b", "2: 1|2"]);
    expect(show(read("a;b\n,;\n", { delimiter: ";" }))).toEqual(["1: a|b", "2: ,|"]);
  });

  it("counts blank lines and takes none for a record", () => {
    expect(show(read("a\n\n  \n\r\nb"))).toEqual(["1: a", "5: b"]);
  });

  it.each([
    { what: "delimiters", line: ",," },
    { what: "delimiters and blanks", line: " , ,\t" },
    { what: "empty fields in quotes", line: '"","",""' },
    { what: "both", line: ',"  ",' },
    { what: "no-break spaces", line: "\u00A0,\u00A0" },
  ])("takes a line of $what for a blank one", ({ line }) => {
    expect(show(read(`a,b,c\n${line}\n1,,\n${line}`))).toEqual(["1: a|b|c", "3: 1||"]);
  });

  it("leaves out the lines before the header, whatever is in them", () => {
    const text = 'Sales, 5 Jan\n"an open quote\n\na,b\n1,2\n';
    expect(show(read(text, { titleLines: 3 }))).toEqual(["4: a|b", "5: 1|2"]);
    const reader = new CsvReader({ titleLines: 3 });
    reader.read(text);
    expect(reader.titles).toEqual(["Sales, 5 Jan", '"an open quote', ""]);
  });

  it.each([
    { text: "sep=;\na;b\n", style: {} },
    { text: "SEP=;\r\na;b\n", style: {} },
    { text: '"sep=;"\na;b\n', style: { delimiter: ";" } },
    { text: "sep=;\ntitle\na;b\n", style: { titleLines: 2 } },
    { text: "title\nsep=;\na;b\n", style: { titleLines: 1 } },
    { text: "\nsep=;\na;b\n", style: {} },
    { text: "sep=\t\na\tb\n", style: {} },
  ])("takes the delimiter that a first line says: $text", ({ text, style }) => {
    expect(read(text, style).map(({ fields }) => fields)).toEqual([["a", "b"]]);
  });

  it("refuses a first line that says another delimiter than was said", () => {
    expect(() => read("sep=;\na;b\n", { delimiter: "," })).toThrow(
      expect.objectContaining({
        code: "delimiter_invalid",
        message: 'delimiter ",": line 1 of the file says it is ";"; leave --delimiter out',
      }),
    );
  });

  it("takes a later line that begins so for a record", () => {
    expect(show(read("a\nsep=;\n"))).toEqual(["1: a", "2: sep=;"]);
  });

  it("reads quoted fields with delimiters, quotes and line ends in them", () => {
    expect(show(read('"a,b","say ""hi"""\r\n"two\r\nlines",x\r\nlast,y'))).toEqual([
      '1: a,b|say "hi"',
      "2: two\r\nlines|x",
      "4: last|y",
    ]);
  });

  it("takes a quote inside a field for a character", () => {
    expect(show(read('12" pizza,1\n"a, b",12" pizza\n'))).toEqual(['1: 12" pizza|1', '2: a, b|12" pizza']);
  });

  it("breaks only the line whose quote is never closed", () => {
    expect(show(read('a,1\n"b,2\nc,3\nd,4\n'))).toEqual(["1: a|1", `2: ${unclosed}`, "3: c|3", "4: d|4"]);
    expect(show(read('"a,1\n"b",2\n"c,3\n'))).toEqual([`1: ${unclosed}`, "2: b|2", `3: ${unclosed}`]);
  });

  it("breaks a line whose quoted field goes on after its quote", () => {
    expect(show(read('"a"b,1\nc,2'))).toEqual(['1: a closing quote is followed by "b,1"', "2: c|2"]);
  });

  it("gives up on a quoted field that has no end in sight, and reads all lines after its first", () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `x,${index}`);
    const records = read(`"open,1\n${lines.join("\n")}\n`);
    expect(records).toHaveLength(50_001);
    expect(show(records.slice(0, 2))).toEqual([`1: ${unclosed}`, "2: x|0"]);
    expect(records.at(-1)).toMatchObject({ line: 50_001, fields: ["x", "49999"] });
  });

  it("does not recurse when thousands of lines open quotes into each other", () => {
    const records = read(`${'x","y\n'.repeat(3_000)}"z\n`);
    expect(records.filter((record) => record.broken !== undefined)).toHaveLength(3_001);
  });

  it("keeps each record as it stood in the file, but for its last line feed", () => {
    const text = '"a\r\nb",1\r\nc,2\r\n"d,3';
    expect(
      read(text)
        .map((record) => record.raw)
        .join("\n"),
    ).toBe(text);
  });

  it("says how long the line under way is", () => {
    const reader = new CsvReader();
    reader.read("a\nb\nccc");
    expect(reader.unfinishedLine).toEqual({ line: 3, length: 3 });
  });

  it("reads what csv-parse reads, however the text is cut", () => {
    const field = fc.stringMatching(/^[ab "\n\r,;']{0,6}$/u);
    // A line of blank fields is none here.
    const row = fc.array(field, { minLength: 2, maxLength: 4 }).filter((fields) => fields.join("").trim() !== "");
    const table = fc.array(row, { minLength: 1, maxLength: 8 });
    const lineEnd = fc.constantFrom("\n", "\r\n");
    fc.assert(
      fc.property(table, lineEnd, fc.nat(), (rows, end, cutAt) => {
        const text = rows.map((fields) => fields.map(quoted).join(",") + end).join("");
        const expected: string[][] = parse(text, { record_delimiter: ["\r\n", "\n"], relax_column_count: true });
        const reader = new CsvReader();
        const cut = cutAt % (text.length + 1);
        const records = [...reader.read(text.slice(0, cut)), ...reader.read(text.slice(cut)), ...reader.end()];
        expect(records.map((record) => record.fields)).toEqual(expected);
        expect(records.map((record) => record.raw).join("\n")).toBe(text.slice(0, -1));
      }),
      { numRuns: 500 },
    );
  });
});

describe("splitLine", () => {
  it("splits one line, or says that it is none", () => {
    expect(splitLine('a,"b,c",12"', ",")).toEqual(["a", "b,c", '12"']);
    expect(splitLine('a,"b', ",")).toBeUndefined();
  });
});

/** In quotes where need be, as RFC 4180 writes it. */
function quoted(field: string): string {
  return /[",\n\r]/u.test(field) || field.trim() === "" ? `"${field.replaceAll('"', '""')}"` : field;
}
