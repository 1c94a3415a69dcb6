/** An app of the smallest kind: says that it is ready, waits to be told to leave. */

const say = (msg: string): void => console.log(JSON.stringify({ level: 30, msg, greeting: process.env["GREETING"] }));

const heartbeat = setInterval(() => undefined, 1_000);
process.once("SIGTERM", () => {
  say("left");
  clearInterval(heartbeat);
});
say("ready");
console.log("not JSON");
