/** What is known of restaurants, and how it changes. */
export {
  type ChangedRestaurant,
  type ChangeRestaurantOptions,
  changeRestaurant,
  type RestaurantChange,
} from "./change-restaurant.ts";
export { type ListedClock, type ListedRestaurant, listRestaurants } from "./list-restaurants.ts";
export { RestaurantFault, type RestaurantFaultCode } from "./restaurant-fault.ts";
