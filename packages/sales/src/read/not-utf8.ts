/** What is said of a text with characters that its bytes were not. */
export const notUtf8 = "is not UTF-8; say --encoding windows-1252 if that is what it is";
