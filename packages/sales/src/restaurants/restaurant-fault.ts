import { Fault } from "@nightwriter/core";

/**
 * - `restaurant_unknown`: there is none with this id.
 * - `restaurant_fixed`: what was recorded means something by what was to be changed; the message says how to go on.
 */
export type RestaurantFaultCode = "restaurant_unknown" | "restaurant_fixed";

/** A change of a restaurant that was refused; nothing was changed. */
export class RestaurantFault extends Fault<RestaurantFaultCode> {
  override readonly name = "RestaurantFault";
}
