// The addresses that a host is connected to: resolved once, and checked.
//
// Names are asked of the name servers by c-ares, from sockets of the event loop. The C library's getaddrinfo holds a thread of the pool
// until a name server answers, up to 5 s a try: requests to hosts of a dead name server would take all threads from the file I/O of writes.

import { setServers } from "node:dns";
import { readFileSync, statSync } from "node:fs";
import { isIP, type LookupFunction } from "node:net";
import { dns } from "bun";
import { isPublicAddress } from "./addresses.ts";

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** Never asked of anybody: numbers, which are old forms of addresses (the URL standard's "ends in a number"), and RFC 6761 section 6.4. */
const NO_NAME = /(^|\.)(\d+|0x[0-9a-f]*|invalid)\.?$/i;
/** For an address of several; a lost packet is sent again after a second. */
const ATTEMPT_MS = 2500;
/** The codes of c-ares for a name server's answer that there is no such name, or none with an address. */
const NO_HOST: ReadonlySet<unknown> = new Set(["DNS_ENOTFOUND", "DNS_ENODATA"]);

/** @param host a name or an address, with or without brackets
 *  @throws Error: no such host, none that is allowed, or name servers that do not answer */
export async function allowedAddresses(host: string, allowsPrivate: boolean): Promise<readonly HostAddress[]> {
  const plain = host.replace(/^\[|\]$/g, "");
  const family = isIP(plain);
  const addresses = family === 0 ? await resolved(plain) : [{ address: plain, family }];
  const allowed = addresses.filter(({ address }) => allowsPrivate || isPublicAddress(address));
  if (allowed.length === 0) throw new Error("no such host: the address is private, and requests to private networks are off");
  return allowed;
}

/** How a socket connects to a host by these addresses only, one after the other until one answers: a name may have an address of IPv6
 *  while its server listens on IPv4, as that of this machine often does. */
export function connectsTo(addresses: readonly HostAddress[]) {
  const lookup: LookupFunction = (_host, { all }, callback) => {
    const [{ address, family }] = addresses as readonly [HostAddress];
    if (all) callback(null, [...addresses]);
    else callback(null, address, family);
  };
  return { lookup, autoSelectFamily: true, autoSelectFamilyAttemptTimeout: ATTEMPT_MS };
}

/** Why a connection failed; of several addresses the first one's reason. */
export function connectionError(error: Error): Error {
  const [first] = error instanceof AggregateError ? error.errors : [];
  return first instanceof Error ? first : error;
}

async function resolved(host: string): Promise<readonly HostAddress[]> {
  if (NO_NAME.test(host)) throw noHost(host);
  nameServers.refresh();
  try {
    return await dns.lookup(host, { backend: process.platform === "win32" ? "system" : "c-ares" });
  } catch (error) {
    const { code } = error as { code?: unknown };
    if (NO_HOST.has(code)) throw noHost(host);
    const why = code === "DNS_ETIMEOUT" || code === "DNS_ECONNREFUSED" ? "the name servers do not answer" : String(code);
    throw new Error(`cannot look up host ${JSON.stringify(host)}: ${why}`);
  }
}

const noHost = (host: string) => new Error(`no such host ${JSON.stringify(host)}`);

/** The name servers of this thread, which c-ares reads once: a machine may get others while the server runs. */
export class NameServers {
  private version: string;

  /** @param path in the format of resolv.conf(5) */
  constructor(
    private readonly path = "/etc/resolv.conf",
    private readonly set: (servers: readonly string[]) => void = setServers,
  ) {
    this.version = this.seen();
  }

  /** Reads the file again if it has changed. */
  refresh(): void {
    const version = this.seen();
    if (version === this.version) return;
    try {
      this.set(nameServersOf(readFileSync(this.path, "utf8")));
      this.version = version;
    } catch {
      // being replaced, or lookups are under way: the next one tries again
    }
  }

  private seen(): string {
    const info = statSync(this.path, { throwIfNoEntry: false });
    return info === undefined ? "" : `${info.ino} ${info.mtimeMs} ${info.size}`;
  }
}

/** The addresses of a resolv.conf(5): those that the C library reads. */
export function nameServersOf(text: string): string[] {
  const named = [...text.matchAll(/^nameserver[ \t]+(\S+)/gm)].map(([, address]) => address!);
  const servers = named.filter((address) => isIP(address) !== 0).slice(0, 3);
  return servers.length > 0 ? servers : ["127.0.0.1"];
}

const nameServers = new NameServers();
