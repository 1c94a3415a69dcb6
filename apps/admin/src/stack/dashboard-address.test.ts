import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { dashboardAddress } from "./dashboard-address.ts";

describe("dashboardAddress", () => {
  it("takes any free port for 0, and says which", async () => {
    const { url, port } = await dashboardAddress("127.0.0.1", 0);
    expect(port).toBeGreaterThan(0);
    expect(url).toBe(`http://127.0.0.1:${port}`);
  });

  it("takes one of the next ports where something listens already", async () => {
    const server = createServer();
    await once(server.listen(0, "127.0.0.1"), "listening");
    const taken = (server.address() as AddressInfo).port;
    expect((await dashboardAddress("127.0.0.1", taken)).port).not.toBe(taken);
    server.close();
    await once(server, "close");
  });

  it.each([80, 1_023])("hands on the port %i, of which there is no next one that anybody may have", async (port) => {
    expect((await dashboardAddress("127.0.0.1", port)).port).toBe(port);
  });

  it("takes the last port there is", async () => {
    expect((await dashboardAddress("127.0.0.1", 65_535)).port).toBeGreaterThan(0);
  });

  it.each(["0.0.0.0", "10.0.0.1", "night.example", "127.evil.example"])(
    "refuses %s in one line with the remedy",
    async (host) => {
      await expect(dashboardAddress(host, 3_000)).rejects.toThrow(
        `dashboard at ${host}: asks nobody who they are; set DASHBOARD_HOST to 127.0.0.1, ::1 or localhost`,
      );
    },
  );
});
