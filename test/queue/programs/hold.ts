/** A process that takes items and never settles them, until it is killed: `hold.ts URL PREFIX CONCURRENCY`. */
import { createLogger } from "@nightwriter/observability";
import { connectQueues } from "@nightwriter/queue";
import { job } from "../fixture.ts";

const [url = "", prefix = "", concurrency = ""] = process.argv.slice(2);
const logger = createLogger({ name: "hold", pretty: false });
const queues = await connectQueues({ url, prefix, applicationName: "hold", logger });
let held = 0;
queues.startConsumer({
  job,
  partition: 0,
  concurrency: Number(concurrency),
  handle: async (_item, { attempt }) => {
    held += 1;
    logger.info({ held, attempt }, "held");
    await new Promise(() => undefined);
  },
});
