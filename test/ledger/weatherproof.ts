import { sqlFault } from "@nightwriter/database";

/** Undefined where the connection was lost, or had to wait too long. */
export async function weatherproof<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    const fault = sqlFault(error);
    if (fault.retryable) return undefined;
    throw fault;
  }
}
