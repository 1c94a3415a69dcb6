import { describe, expect, it } from "vitest";
import { openLeaseStore } from "./index.ts";
import { optionalPackage } from "./optional-package.ts";

const options = { prefix: "test", ttlMs: 2_000, applicationName: "test" };
/** Nobody listens on it. */
const host = "127.0.0.1:1";

describe("openLeaseStore", () => {
  it.for([
    `postgres://${host}/none`,
    `postgresql://${host}/none`,
    `redis://${host}`,
    `rediss://${host}`,
    `redis+sentinel://${host}/primary`,
    `redis+cluster://${host}`,
    `redis+redlock://${host},${host},${host}`,
    `etcd://${host}`,
    `zookeeper://${host}`,
  ])("goes to the server of %s, which is away", async (url) => {
    await expect(openLeaseStore({ ...options, url })).rejects.toMatchObject({
      name: "LeaseFault",
      code: "lease_store_away",
    });
  });

  it.for(["none", "", "host:6379", "mysql://host/db", "constructor://host", "redis:host"])(
    "refuses %j and does not repeat it",
    async (url) => {
      await expect(openLeaseStore({ ...options, url })).rejects.toMatchObject({
        code: "lease_url_invalid",
        message: expect.not.stringContaining(url || "undefined"),
      });
    },
  );
});

describe("optionalPackage", () => {
  it("says what to install when the package is not there", async () => {
    await expect(optionalPackage("@nightwriter/not-there", async () => "loaded")).rejects.toMatchObject({
      code: "lease_store_unfit",
      message: expect.stringContaining("@nightwriter/not-there is not installed"),
    });
  });

  it("does not take what is wrong in a package for its absence", async () => {
    const wrong = new Error("its own dependency is missing");
    await expect(optionalPackage("@nightwriter/lease-etcd", () => Promise.reject(wrong))).rejects.toBe(wrong);
  });
});
