import { Fault } from "@nightwriter/core";

/**
 * - `business_date_closed`: the date is behind `closed_through`; corrections of it need an operator's approval.
 * - `business_date_not_over`: the date is not over in the job's zone by the database's clock or, for named keys, has not begun.
 * - `items_in_flight`: items are due, so partitions cannot be resized now.
 * - `key_unknown`: a request names keys that the job does not have.
 * - `night_missing`: a re-run of a night that was never planned.
 * - `request_differs`: the request id was used before, for something else.
 */
export type RunFaultCode =
  | "business_date_closed"
  | "business_date_not_over"
  | "items_in_flight"
  | "key_unknown"
  | "night_missing"
  | "request_differs";

/** What was asked for cannot be planned, or not now. Nothing was changed. */
export class RunFault extends Fault<RunFaultCode> {
  override readonly name = "RunFault";
}
