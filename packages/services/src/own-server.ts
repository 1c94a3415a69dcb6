/** What the servers that keep data in one folder and are told how by arguments or input have in common. */

import type { GuardedCommand, GuardedProcess, ProcessExit } from "./guarded-process.ts";
import { type FolderOptions, openFolder } from "./server-folder.ts";
import { launchServer } from "./server-launch.ts";
import { SERVER_ENVIRONMENT, serverUser } from "./server-user.ts";

/** Where a server's data are and how it runs; every field may be left out. */
export interface ServerOptions {
  /** The folder whose data stay; made if missing. Absent: a temporary one, removed with the server. */
  readonly dir?: string;
  /** Absent: a free one. */
  readonly port?: number;
  /** Gets each line of the server's log. */
  readonly log?: (line: string) => void;
}

/** A server that takes requests. Disposal is `stop`. */
export interface ServerService extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly dir: string;
  /** Settles when the server has ended, for whatever reason; never rejects. */
  readonly exited: Promise<ProcessExit>;
  /** Ends the server in order. */
  stop(): Promise<void>;
  /** SIGKILL. What it had written stays; a temporary folder is kept until `stop`. */
  kill(): Promise<void>;
}

/** How a server is run in its folder. */
export interface ServerProgram {
  readonly command: (port: number) => Pick<GuardedCommand, "args" | "environment" | "file" | "input">;
  readonly isReady: (server: GuardedProcess, port: number) => boolean | Promise<boolean>;
  /** How it is asked to leave, once it runs. Default: SIGTERM, and SIGKILL if it does not obey. */
  readonly leave?: (server: GuardedProcess) => Promise<void>;
}

export interface OwnServer {
  readonly kind: FolderOptions["server"];
  /** For messages. */
  readonly name: string;
  readonly options: ServerOptions;
  /** Called once, with the folder that the server will work in. */
  readonly program: (dir: string) => ServerProgram | Promise<ServerProgram>;
}

/**
 * Starts the server on a port of loopback, as `nobody` if we are root, and returns when it is ready. It cannot outlive this
 * process. Throws a ServicesFault `folder-closed` or `did-not-start`, and leaves nothing behind when it does.
 */
export async function startOwnServer({ kind, name, options, program }: OwnServer): Promise<Omit<ServerService, "url">> {
  const user = await serverUser();
  const folder = await openFolder({ wanted: options.dir, server: kind, user });
  const dir = folder.path;
  try {
    const { command, isReady, leave = leaveInOrder } = await program(dir);
    const { server, port } = await launchServer({
      name: `${name} in ${dir}`,
      port: options.port,
      command: (portToUse) => {
        const { environment, ...rest } = command(portToUse);
        return {
          ...rest,
          folder: dir,
          temporary: folder.temporary,
          environment: { ...SERVER_ENVIRONMENT, ...environment },
          onlyEnvironment: true,
          user,
          orphanSignal: "KILL",
          log: options.log,
        };
      },
      isReady,
    });
    const stop = async (): Promise<void> => {
      await leave(server);
      await folder.release();
    };
    return {
      port,
      pid: server.pid,
      dir,
      exited: server.exited,
      stop,
      kill: () => server.end(["SIGKILL"]),
      [Symbol.asyncDispose]: stop,
    };
  } catch (error) {
    await folder.release();
    throw error;
  }
}

async function leaveInOrder(server: GuardedProcess): Promise<void> {
  await server.end(["SIGTERM", "SIGKILL"]);
}
