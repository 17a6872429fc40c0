// Which addresses requests of scripts may go to: those of the public internet. Private networks and the machine itself hold services that
// trust every client that reaches them.
import { BlockList, isIP } from "node:net";

const PRIVATE_V4: readonly (readonly [string, number])[] = [
  ["0.0.0.0", 8], // this network
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // carriers' NAT
  ["127.0.0.0", 8],
  ["169.254.0.0", 16], // link-local, also metadata of clouds
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // reserved, and broadcast
];

/** Outside 2000::/3 nothing is public; within it these are not. */
const SPECIAL_V6: readonly (readonly [string, number])[] = [
  ["2001::", 23], // Teredo and other protocols
  ["2001:db8::", 32],
  ["2002::", 16], // 6to4: an IPv4 address inside
  ["3fff::", 20],
];

const privateV4 = blockList(PRIVATE_V4, "ipv4");
const specialV6 = blockList(SPECIAL_V6, "ipv6");
const globalV6 = blockList([["2000::", 3]], "ipv6");

function blockList(subnets: readonly (readonly [string, number])[], family: "ipv4" | "ipv6"): BlockList {
  const list = new BlockList();
  for (const [network, prefix] of subnets) list.addSubnet(network, prefix, family);
  return list;
}

/** @param address of either family, without brackets; an IPv6 address with an IPv4 one inside is private */
export function isPublicAddress(address: string): boolean {
  const plain = address.split("%")[0]!;
  const family = isIP(plain);
  if (family === 4) return !privateV4.check(plain, "ipv4");
  return family === 6 && globalV6.check(plain, "ipv6") && !specialV6.check(plain, "ipv6");
}
