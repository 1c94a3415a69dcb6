import { Fault } from "@nightwriter/core";

/** What can be wrong with a server of one's own. */
export type ServicesFaultCode =
  | "binaries-missing"
  | "did-not-start"
  | "folder-closed"
  | "folder-in-use"
  | "install-failed"
  | "no-answer"
  | "other-major-version";

/** A server that cannot be installed or started. Its message says what to do about it, in one line. */
export class ServicesFault extends Fault<ServicesFaultCode> {
  override readonly name: string = "ServicesFault";
}
