/** One command to a Redis, without its clients: inline, as one would type it into netcat. */

import { once } from "node:events";
import { connect } from "node:net";
import { ServicesFault } from "./fault.ts";
import { HOST } from "./server-launch.ts";

const ANSWER_WITHIN_MS = 10_000;

export interface RedisAddress {
  readonly port: number;
  readonly password: string;
}

/** The answer to the command. Throws a ServicesFault `no-answer`: none in 10 s, no connection, or an error of the server's. */
export async function askRedis({ port, password }: RedisAddress, words: readonly string[]): Promise<string> {
  const command = words.join(" ");
  const socket = connect({ port, host: HOST });
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  let answer = "";
  socket.setEncoding("utf8").on("data", (text: string) => (answer += text));
  try {
    await once(socket, "connect", { signal });
    // QUIT makes the server close when it has answered, so that the end of the answer need not be looked for.
    socket.write(`auth ${password}\r\n${command}\r\nquit\r\n`);
    await once(socket, "close", { signal });
  } catch (cause) {
    throw new ServicesFault("no-answer", `redis on port ${port}: no answer to ${command}`, { cause, retryable: true });
  } finally {
    socket.destroy();
  }
  const [, ...rest] = answer.split("\r\n");
  const text = rest.join("\r\n").replace(/\+OK\r\n$/, "");
  if (answer.startsWith("+OK\r\n") && !text.startsWith("-"))
    return text.replace(/^(?:\+|:|\$-?\d+(?:\r\n)?)/, "").trimEnd();
  throw new ServicesFault(
    "no-answer",
    `redis on port ${port}: refused ${command}: ${text.trimEnd() || answer.trimEnd()}`,
  );
}
