/** The headings of the list of verbs. */
export const group = {
  tryIt: "Try it:",
  setUp: "Set up and record:",
  nights: "Nights:",
  processes: "Processes:",
} as const;
