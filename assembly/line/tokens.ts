// The line in hand as tokens, between what reads it (check.ts, check-v2.ts) and what takes it in (commit.ts); and what is wrong with it.
import { LINE_BAD_TOO_MANY_COLUMNS, LINE_COLUMNS_MAX, TYPE_TAG } from "../abi";
import { hashText } from "../memory/hash";
import { Parser, TOKEN_BYTES, Token } from "./structures";

/** What is wrong with the line: code, text that the message quotes (`faultEnd` 0 = to the end of the line), a detail by code. */
export let faultCode: u32 = 0;
export let faultPtr: usize = 0;
export let faultEnd: usize = 0;
export let faultDetail: u32 = 0;

/** The unescaped table name, where the series key ends, the line's time; tags are tokens 0 .. tagCount - 1, then fields. */
export let tableNamePtr: usize = 0;
export let tableNameBytes: u32 = 0;
export let seriesEnd: usize = 0;
export let timeNs: i64 = 0;
export let tagCount: u32 = 0;
export let tokenCount: u32 = 0;

/** Records an error and its place. Returns 0, which callers pass on. */
export function fault(code: u32, ptr: usize, end: usize): usize {
  faultCode = code;
  faultPtr = ptr;
  faultEnd = end;
  faultDetail = 0;
  return 0;
}

/** The same with a detail. */
export function detailedFault(code: u32, ptr: usize, end: usize, detail: u32): usize {
  fault(code, ptr, end);
  faultDetail = detail;
  return 0;
}

/** No error so far. */
export function clearFault(): void {
  faultCode = 0;
}

/** Forgets the tokens of the line before. */
export function beginTokens(): void {
  tokenCount = 0;
  tagCount = 0;
}

/** The name of the line's table. */
export function setTable(namePtr: usize, nameBytes: u32): void {
  tableNamePtr = namePtr;
  tableNameBytes = nameBytes;
}

/** Where the series key ends. */
export function setSeriesEnd(p: usize): void {
  seriesEnd = p;
}

/** The line's time, at first as written. */
export function setTimeNs(time: i64): void {
  timeNs = time;
}

/** The token with this index. */
// @ts-ignore: decorator
@inline
export function tokenAt(parser: Parser, index: u32): Token {
  return changetype<Token>(parser.tokensPtr + index * TOKEN_BYTES);
}

/** A token for a name, or null with the fault set. Tags come first. */
export function pushToken(parser: Parser, type: u32, namePtr: usize, nameBytes: u32): Token | null {
  if (tokenCount == LINE_COLUMNS_MAX) {
    fault(LINE_BAD_TOO_MANY_COLUMNS, 0, 0);
    return null;
  }
  const token = tokenAt(parser, tokenCount++);
  token.namePtr = <u32>namePtr;
  token.nameBytes = nameBytes;
  token.type = type;
  token.hash = hashText(namePtr, nameBytes, 0);
  if (type == TYPE_TAG) tagCount++;
  return token;
}

/** Empties the set of the line's names. Returns how many slots it has, a power of two: twice as many as names or more, so that a narrow
 *  line clears little. */
export function clearSeen(parser: Parser): u32 {
  const slots: u32 = 1 << (32 - clz<u32>(tokenCount * 2));
  memory.fill(parser.seenPtr, 0, slots * 2);
  return slots;
}

/** Forgets the fields behind the first `count` tokens. */
export function keepTokens(count: u32): void {
  tokenCount = count;
}
