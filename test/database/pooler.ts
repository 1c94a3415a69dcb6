/** A way to a server that treats what a session starts with as poolers do: it drops the parameter, or refuses the session for it. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface Pooler extends AsyncDisposable {
  readonly url: string;
}

const lengthAndVersion = 8;

/** As PgBouncer does with `ignore_startup_parameters = options` (`drops`), and without (`refuses`). */
export async function openPooler(url: string, mode: "drops" | "refuses"): Promise<Pooler> {
  const target = new URL(url);
  const open = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.once("data", (startup: Buffer) => {
      if (mode === "refuses") return void client.end(refusal());
      upstream.write(withoutOptions(startup));
      client.pipe(upstream);
    });
    upstream.pipe(client);
    open.add(client);
    for (const socket of [client, upstream]) {
      socket.on("error", () => client.destroy()).on("close", () => [client, upstream].map((each) => each.destroy()));
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const pooled = new URL(url);
  pooled.port = String((server.address() as AddressInfo).port);
  return {
    url: pooled.href,
    [Symbol.asyncDispose]: async () => {
      for (const client of open) client.destroy();
      await once(server.close(), "close");
    },
  };
}

/** A startup message: its length, the protocol's version, names and values each ended by a zero, and one more. */
function withoutOptions(startup: Buffer): Buffer {
  const words = startup.subarray(lengthAndVersion).toString("utf8").split("\0");
  const kept = words.filter((_, index) => words[index - (index % 2)] !== "options");
  const body = Buffer.from(kept.join("\0"));
  const head = Buffer.from(startup.subarray(0, lengthAndVersion));
  head.writeInt32BE(lengthAndVersion + body.length);
  return Buffer.concat([head, body]);
}

function refusal(): Buffer {
  const body = Buffer.from("SFATAL\0VFATAL\0C08P01\0Munsupported startup parameter: options\0\0");
  const head = Buffer.alloc(5, "E");
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}
