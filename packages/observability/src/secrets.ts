/**
 * Secrets that travel in texts. Connection strings are the only secrets Nightwriter is given, and they turn up where nobody
 * put them on purpose: in a driver's error, in a stack. So every log line is scrubbed as a text, just before it is written.
 */

const mask = "***";

/** Credentials of a URL inside a longer text. The password runs to the last @ before a blank or a quote: it may hold / and @. */
const urlCredentials = /\b([a-z][a-z0-9+.-]*:\/\/[^\s:@/"'`\\]*):[^\s"'`\\]*@/gi;
const passwordParameter = /\b((?:ssl)?password)=[^\s&"'`\\]+/gi;

/** Shows where a URL points without what opens it: `postgres://night:***@db:5432/night`. A text that is no URL is scrubbed as a text. */
export function redactUrl(url: string): string {
  return scrub(url);
}

/** The text with the password of every URL in it, and every `password=` parameter, replaced by `***`. */
export function scrub(text: string): string {
  return text.replace(urlCredentials, `$1:${mask}@`).replace(passwordParameter, `$1=${mask}`);
}
