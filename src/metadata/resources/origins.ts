// Secrets are for the server that they were given for: a client that changes its address does not get them sent there.

/** True if `url` leads to another server than `before` did. One without an address had none. */
export function isElsewhere(url: string | undefined, before: string): boolean {
  return url !== undefined && before !== "" && originOf(url) !== originOf(before);
}

/** What is no address is a place of its own. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}
