/**
 * Whose fault it is that the server refuses a statement over items: a key's, whatever its SQLSTATE, or the statement's.
 *
 * No list of SQLSTATEs could tell. A source may read a scalar subquery that finds two rows (21000), call a function that
 * raises what it likes, or meet a damaged page (XX001): all that belongs to one key. The same codes come from a statement
 * that does not fit the schema. So the statement itself is asked: it is a bug if it fails over no items at all.
 */
import { type SqlFault, sqlFault } from "@nightwriter/database";

/** Whether the server said no, and will again: no weather, no lost answer, no error of this side's own. */
export function isRefusal(fault: SqlFault | undefined): fault is SqlFault & { readonly sqlstate: string } {
  return fault?.sqlstate !== undefined && !fault.retryable;
}

/**
 * Runs a statement over no items, after it was refused over some. Returns if it succeeds: it is the items' fault. Returns the
 * fault if it met weather: nothing is known. Throws it if it was refused again: the statement is wrong, whatever the items.
 */
export async function proveOverNoItems(run: () => Promise<unknown>): Promise<SqlFault | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    const fault = sqlFault(error);
    if (!fault.retryable) throw fault;
    return fault;
  }
}

/** Made on this side, before or after the server was asked: nobody's data did that. */
export function isOurs(fault: SqlFault | undefined): fault is SqlFault & { readonly code: "bug" } {
  return fault?.code === "bug" && fault.sqlstate === undefined;
}
