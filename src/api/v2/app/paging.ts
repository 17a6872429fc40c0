// Pages of lists: the parameters, and the links that lead to the pages around one.
import type { Page } from "../../../metadata/resources/page.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { SearchParams } from "./params.ts";

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

/** A page as a client has asked for it. */
export interface GivenPage extends Page {
  /** Links show it. Below 0 it means 0. */
  readonly givenOffset: bigint;
  /** A limit or an offset is given. */
  readonly isGiven: boolean;
}

/** @throws TsdbError bad_request */
export function readPage(search: SearchParams): GivenPage {
  const givenOffset = integer(search, "offset") ?? 0n;
  const after = readAfter(search);
  const limit = Number(integer(search, "limit") ?? LIMIT_DEFAULT);
  if (limit < 1 || limit > LIMIT_MAX) throw new TsdbError("bad_request", `limit must be between 1 and ${LIMIT_MAX}`);
  const isGiven = search.get("limit") !== undefined || search.get("offset") !== undefined;
  return { limit, offset: startOf(givenOffset), givenOffset, isGiven, after, isDescending: readBoolean(search, "descending") ?? false };
}

/** The items of a page. The vendor's server lists all of an organization, of dashboards whatever page is asked for, so that a client never
 *  comes to the last one; here it does where no page is given. @param first of the page */
export function pageOf<T>(
  items: readonly T[],
  { limit, offset, isGiven }: GivenPage,
  isOfOrganization: boolean,
  first = offset,
): readonly T[] {
  return isOfOrganization && !isGiven ? items : items.slice(first, first + limit);
}

/** Exact as a number: behind it no list has anything. */
function startOf(givenOffset: bigint): number {
  return Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Number(givenOffset)));
}

function readAfter(search: SearchParams): string | null {
  const after = search.get("after");
  if (after === undefined) return null;
  try {
    return readId(after);
  } catch (error) {
    throw new TsdbError("bad_request", `decoding after: ${(error as Error).message}`);
  }
}

function integer(search: SearchParams, name: string): bigint | undefined {
  const text = search.get(name);
  if (text === undefined) return undefined;
  const value = parseInteger(text);
  if (value === null) throw new TsdbError("bad_request", `${name} is invalid`);
  return value;
}

/** An integer of 64 bits in decimal digits; null for other texts. */
export function parseInteger(text: string): bigint | null {
  // as many zeros as there are may stand before the digits that count
  if (!/^[+-]?0*\d{1,19}$/.test(text)) return null;
  const value = BigInt(text.replace(/^\+/, ""));
  return BigInt.asIntN(64, value) === value ? value : null;
}

/** @throws TsdbError bad_request */
export function readBoolean(search: SearchParams, name: string): boolean | undefined {
  const text = search.get(name);
  if (text === undefined) return undefined;
  if (["1", "t", "T", "true", "TRUE", "True"].includes(text)) return true;
  if (["0", "f", "F", "false", "FALSE", "False"].includes(text)) return false;
  throw new TsdbError("bad_request", `${name} is invalid`);
}

export interface PageLinks {
  readonly prev?: string;
  readonly self: string;
  readonly next?: string;
}

/** A list stands for a parameter that was given several times. */
type PageFilters = Readonly<Record<string, string | readonly string[] | undefined>>;

/** `filters`: the parameters that were applied beside those of the page. A full page has a next one, whether or not anything is in it. */
export function pageLinks(path: string, page: GivenPage, count: number, filters: PageFilters): PageLinks {
  const { limit, givenOffset: offset, after, isDescending } = page;
  const link = (from: bigint) => {
    const own = { after: after ?? undefined, descending: String(isDescending), limit: String(limit), offset: String(from) };
    const all: [string, PageFilters[string]][] = Object.entries({ ...filters, ...own });
    const given = all.flatMap(([name, value]) => [value ?? []].flat().map((each): [string, string] => [name, each]));
    return `${path}?${new URLSearchParams(given.sort(([a], [b]) => (a < b ? -1 : 1)))}`;
  };
  return {
    ...(offset > 0n ? { prev: link(offset < BigInt(limit) ? 0n : offset - BigInt(limit)) } : {}),
    self: link(offset),
    ...(count >= limit ? { next: link(offset + BigInt(limit)) } : {}),
  };
}
