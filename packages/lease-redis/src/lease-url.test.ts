import { LeaseFault } from "@nightwriter/lease";
import { describe, expect, it } from "vitest";
import { parseLeaseUrl } from "./lease-url.ts";

function faultOf(url: string): LeaseFault {
  try {
    parseLeaseUrl(url);
  } catch (error) {
    if (error instanceof LeaseFault) return error;
  }
  throw new Error(`${url} was taken`);
}

describe("parseLeaseUrl", () => {
  it("takes one server, with what may be left out left out", () => {
    expect(parseLeaseUrl("redis://cache")).toMatchObject({
      form: "redis",
      addresses: [{ host: "cache", port: 6379 }],
      username: undefined,
      password: undefined,
      tls: false,
      db: 0,
      label: "redis at cache:6379",
    });
  });

  it("takes user, password and database, and tells none of the first two", () => {
    const { label, ...url } = parseLeaseUrl("rediss://app:p%40ss%3Aword@cache:6380/3");
    expect(url).toMatchObject({ username: "app", password: "p@ss:word", tls: true, db: 3 });
    expect(label).toBe("redis at cache:6380");
  });

  it("takes a password without a user, and an address of IPv6", () => {
    expect(parseLeaseUrl("redis://:secret@[::1]:7000")).toMatchObject({
      username: undefined,
      password: "secret",
      addresses: [{ host: "::1", port: 7000 }],
    });
  });

  it("takes sentinels, their name of the primary, a database and a password of their own", () => {
    const url = "redis+sentinel://app:pw@a,b:26380/mymaster/2?sentinelPassword=s%26p&tls=true";
    expect(parseLeaseUrl(url)).toMatchObject({
      form: "redis+sentinel",
      addresses: [
        { host: "a", port: 26379 },
        { host: "b", port: 26380 },
      ],
      primary: "mymaster",
      db: 2,
      sentinelUsername: undefined,
      sentinelPassword: "s&p",
      tls: true,
      label: "redis+sentinel at a:26379,b:26380/mymaster",
    });
  });

  it("takes a cluster, and several servers that vote", () => {
    expect(parseLeaseUrl("redis+cluster://a:7000,b:7001")).toMatchObject({ form: "redis+cluster" });
    expect(parseLeaseUrl("redis+redlock://u:p@a,b,c")).toMatchObject({
      form: "redis+redlock",
      label: "redis+redlock at a:6379,b:6379,c:6379",
    });
  });

  it.each([
    ["", "not one of"],
    ["cache:6379", "not one of"],
    ["postgres://cache", "not one of"],
    ["redis://", "not one of"],
    ["redis://a,b", "2 hosts; redis: has one"],
    ["redis://a:0", 'host "a:0"'],
    ["redis://a:65536", 'host "a:65536"'],
    ["redis://a b", 'host "a b"'],
    ["redis://a/x", "path /x; the path is the number of a database"],
    ["redis://a?tls=true", "parameter tls; known here: none"],
    ["redis+sentinel://a", "path /; the path is /PRIMARY"],
    ["redis+sentinel://a/p?tls=yes", "set it to true or false"],
    ["redis+sentinel://a/p?name=x", "parameter name; known here: tls, sentinelUsername, sentinelPassword"],
    ["redis+cluster://a/1", "a cluster has one database"],
    ["redis+redlock://a,b", "2 hosts; redis+redlock: takes a majority of 3 or 5"],
    ["redis+redlock://a,b,c,d", "4 hosts"],
    ["redis://u:%zz@a", "a % that escapes nothing"],
  ])("refuses %j", (url, why) => {
    expect(faultOf(url)).toMatchObject({ code: "lease_url_invalid", message: expect.stringContaining(why) });
  });

  it("tells no password of what it refuses", () => {
    for (const url of ["redis://u:secret@a/x", "redis+redlock://u:secret@a", "redos://u:secret@a"]) {
      expect(faultOf(url).message).not.toContain("secret");
    }
  });
});
