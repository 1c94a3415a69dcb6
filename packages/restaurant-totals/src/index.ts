export { restaurantTotals } from "./restaurant-totals.ts";
