import { Fault } from "@nightwriter/core";
import { type AppOptions, type AppProcess, startApp } from "./app-process.ts";

/** Apps that belong together: when one of them ends by itself, the others are of no use. */
export interface AppGroup extends AsyncDisposable {
  start(options: AppOptions): Promise<AppProcess>;
  /** Aborted when an app ends that nobody has killed or stopped; its reason is a Fault with the app's last lines. */
  readonly signal: AbortSignal;
}

/** A group without apps yet. When it is disposed of, all of them are stopped at once and have ended. */
export function appGroup(): AppGroup {
  const apps: AppProcess[] = [];
  const controller = new AbortController();
  return {
    signal: controller.signal,
    async start(options) {
      const app = await startApp(options);
      apps.push(app);
      void app.ended.then(({ how, wanted }) => wanted || controller.abort(endedByItself(app, how)));
      return app;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(apps.map(async (app) => app.stop()));
    },
  };
}

function endedByItself({ name, tail }: AppProcess, how: string): Fault {
  return new Fault("app_ended", [`${name}: ended by itself (${how}); its last lines:`, ...tail()].join("\n"), {
    details: { app: name, how },
  });
}
