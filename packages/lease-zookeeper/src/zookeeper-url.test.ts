import { LeaseFault } from "@nightwriter/lease";
import { describe, expect, it } from "vitest";
import { parseZookeeperUrl } from "./zookeeper-url.ts";

describe("parseZookeeperUrl", () => {
  it("takes one host, with ZooKeeper's port where none is named", () => {
    expect(parseZookeeperUrl("zookeeper://lease.example/")).toEqual({
      hosts: [{ host: "lease.example", port: 2181 }],
      digest: undefined,
      chroot: "",
      label: "lease.example",
    });
  });

  it("takes several hosts in their order and a path, and keeps the password out of the label", () => {
    expect(parseZookeeperUrl("zookeeper://night:p%40ss@a:1,b,[::1]:3/company/night")).toEqual({
      hosts: [
        { host: "a", port: 1 },
        { host: "b", port: 2181 },
        { host: "::1", port: 3 },
      ],
      digest: "night:p@ss",
      chroot: "/company/night",
      label: "a:1,b,[::1]:3/company/night",
    });
  });

  it.each([
    "zookeeper://",
    "zookeeper://a,,b",
    "zookeeper://a:port",
    "http://a:2181",
    "zookeeper://night:secret@a/one//two",
    "zookeeper://a/../b",
    "zookeeper://a?timeout=1",
  ])("refuses %s and does not repeat it", (url) => {
    const refuse = (): unknown => parseZookeeperUrl(url);
    expect(refuse).toThrow(LeaseFault);
    expect(refuse).toThrow(/^leases in zookeeper: not a URL of ZooKeeper; use zookeeper:\/\/host:2181,host2:2181/);
    expect(refuse).not.toThrow(/secret/);
  });
});
