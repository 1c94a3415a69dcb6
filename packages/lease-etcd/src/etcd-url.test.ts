import { LeaseFault } from "@nightwriter/lease";
import { describe, expect, it } from "vitest";
import { parseEtcdUrl } from "./etcd-url.ts";

describe("parseEtcdUrl", () => {
  it("takes one host, with etcd's port where none is named", () => {
    expect(parseEtcdUrl("etcd://lease.example")).toEqual({
      hosts: [{ host: "lease.example", port: 2379 }],
      credentials: undefined,
      label: "lease.example",
    });
  });

  it("takes several hosts in their order, and keeps the password out of the label", () => {
    expect(parseEtcdUrl("etcd://night:p%40ss@a:1,b,[::1]:3/")).toEqual({
      hosts: [
        { host: "a", port: 1 },
        { host: "b", port: 2379 },
        { host: "::1", port: 3 },
      ],
      credentials: { name: "night", password: "p@ss" },
      label: "a:1,b,[::1]:3",
    });
  });

  it.each([
    "etcd://",
    "etcd://a,,b",
    "etcd://a:port",
    "http://a:2379",
    "etcd://night:secret@a/path",
    "etcd://a:1?tls=true",
  ])("refuses %s and does not repeat it", (url) => {
    const refuse = (): unknown => parseEtcdUrl(url);
    expect(refuse).toThrow(LeaseFault);
    expect(refuse).toThrow(/^leases in etcd: not a URL of etcd; use etcd:\/\/host:2379,host2:2379 or etcd:/);
    expect(refuse).not.toThrow(/secret/);
  });
});
