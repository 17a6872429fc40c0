// Parses and formats network addresses.

export interface Address {
  /** With or without the brackets of an IPv6 address. */
  readonly hostname: string;
  readonly port: number;
}

/** `127.0.0.1:8183`, `[::1]:8183`. */
export function showAddress(hostname: string, port: number): string {
  const name = withoutBrackets(hostname);
  return name.includes(":") ? `[${name}]:${port}` : `${name}:${port}`;
}

/** The host name under which this machine reaches a server that listens on `hostname`. */
export function reachable(hostname: string): string {
  const name = withoutBrackets(hostname);
  return name === "0.0.0.0" ? "127.0.0.1" : name === "::" ? "::1" : name;
}

/** True if only this machine can reach it. */
export function isLoopback(hostname: string): boolean {
  return /^(?:localhost|(?:::ffff:)?127(?:\.\d{1,3}){3}|::1|0:0:0:0:0:0:0:1)$/i.test(withoutBrackets(hostname));
}

function withoutBrackets(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}
