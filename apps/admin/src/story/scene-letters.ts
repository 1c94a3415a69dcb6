/** The scenes by their letters, apart from what they do: the command line knows them before anything is loaded. */
export const letters = ["a", "b", "c", "d", "e", "f", "g"] as const;

export type Letter = (typeof letters)[number];
