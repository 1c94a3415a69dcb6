import { describe, expect, it } from "vitest";
import { isLoopback } from "./loopback.ts";

describe("isLoopback", () => {
  it.each(["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost"])("accepts %s", (host) => {
    expect(isLoopback(host)).toBe(true);
  });

  it.each(["0.0.0.0", "::", "10.0.0.1", "127.evil.example", "localhost.evil.example", "example.com", ""])(
    "refuses %j",
    (host) => {
      expect(isLoopback(host)).toBe(false);
    },
  );
});
