// The address that a host is connected to: resolved once, and checked.
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { isPublicAddress } from "./addresses.ts";

export interface HostAddress {
  readonly address: string;
  readonly family: number;
}

/** @param host a name or an address, with or without brackets @throws Error: no such host, or none that is allowed */
export async function allowedAddress(host: string, allowsPrivate: boolean): Promise<HostAddress> {
  const plain = host.replace(/^\[|\]$/g, "");
  const family = isIP(plain);
  const addresses = family === 0 ? await resolved(plain) : [{ address: plain, family }];
  const allowed = addresses.find(({ address }) => allowsPrivate || isPublicAddress(address));
  if (allowed === undefined) throw new Error("no such host: the address is private, and requests to private networks are off");
  return allowed;
}

async function resolved(host: string): Promise<readonly HostAddress[]> {
  try {
    return await lookup(host, { all: true });
  } catch {
    throw new Error(`no such host ${JSON.stringify(host)}`);
  }
}
