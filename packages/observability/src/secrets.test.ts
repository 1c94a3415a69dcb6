import { describe, expect, it } from "vitest";
import { redactUrl } from "./index.ts";

describe("redactUrl", () => {
  it.each([
    ["postgres://night:secret@db:5432/night", "postgres://night:***@db:5432/night"],
    ["redis://:secret@cache:6379/0", "redis://:***@cache:6379/0"],
    ["rediss://u:p:w@h@cache", "rediss://u:***@cache"],
    [
      "postgres://db/night?user=n&password=secret&sslmode=require",
      "postgres://db/night?user=n&password=***&sslmode=require",
    ],
    ["postgres://night@db:5432/night", "postgres://night@db:5432/night"],
    ["not a url", "not a url"],
  ])("shows %s as %s", (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });
});
