// Functions that DuckDB lacks and that cannot be expressed in SQL: computed in JavaScript, a vector at a time.
import { blake3 } from "@noble/hashes/blake3.js";
import type { NativeFunction } from "../../duckdb/scalar-function.ts";
import { editDistance } from "../../model/edit-distance.ts";
import { TsdbError } from "../../model/errors.ts";
import { arrowTypeName } from "../bind/arrow-type.ts";
import { regexOf } from "../limits/like-patterns.ts";
import { decodeNames } from "../parse/names.ts";
import { translateRegex, translateReplacement } from "../regex/regex.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();

/** The runtime's names of the dialect's algorithms. */
const ALGORITHMS: Readonly<Record<string, Bun.SupportedCryptoAlgorithms>> = {
  md5: "md5",
  sha224: "sha224",
  sha256: "sha256",
  sha384: "sha384",
  sha512: "sha512",
  blake2b: "blake2b512",
  blake2s: "blake2s256",
};

function digest(algorithm: string, bytes: Uint8Array): Uint8Array {
  const name = algorithm.toLowerCase();
  if (name === "blake3") return blake3(bytes);
  const known = Object.hasOwn(ALGORITHMS, name) ? ALGORITHMS[name] : undefined;
  if (known === undefined) {
    const names = [...Object.keys(ALGORITHMS), "blake3"].join(", ");
    throw new TsdbError(
      "bad_query",
      `Execution error: There is no built-in digest algorithm named '${algorithm}', must be one of: ${names}`,
    );
  }
  return Bun.CryptoHasher.hash(known, bytes) as Uint8Array;
}

/** @throws TsdbError bad_query if the result exceeds a signed 64-bit integer */
function integerPower(x: bigint, n: bigint): bigint {
  if (n < 0n) throw new TsdbError("bad_query", `Arrow error: Arithmetic overflow: Exponent ${n} in integer computation is out of bounds`);
  const value = x >= -1n && x <= 1n ? x ** (n === 0n ? 0n : 2n - (n % 2n)) : n > 63n ? null : x ** n;
  if (value !== null && BigInt.asIntN(64, value) === value) return value;
  throw new TsdbError("bad_query", `Arrow error: Arithmetic overflow: Overflow happened on: ${x} ^ ${n}`);
}

/** Size of the cache of translations: a column of patterns has few distinct ones. */
const KEPT_MAX = 256;

function kept<T>(make: (...texts: string[]) => T): (args: readonly Uint8Array[]) => T {
  const results = new Map<string, T>();
  return (args) => {
    const texts = args.map((bytes) => decoder.decode(bytes));
    const key = JSON.stringify(texts);
    let result = results.get(key);
    if (result === undefined) {
      result = make(...texts);
      if (results.size >= KEPT_MAX) results.clear();
      results.set(key, result);
    }
    return result;
  };
}

const withoutGlobal = (flags: string): string => flags.replaceAll("g", "");

export const NATIVE_FUNCTIONS: readonly NativeFunction[] = [
  {
    name: "__digest",
    parameters: ["text", "bytes"],
    result: "bytes",
    compute: ([algorithm, bytes]) => digest(decoder.decode(algorithm), bytes!),
  },
  {
    name: "__levenshtein",
    parameters: ["text", "text"],
    result: "integer",
    compute: ([a, b]) => editDistance(decoder.decode(a), decoder.decode(b)),
  },
  {
    name: "__power",
    parameters: ["text", "text"],
    result: "text",
    compute: ([x, n]) => encoder.encode(integerPower(BigInt(decoder.decode(x)), BigInt(decoder.decode(n))).toString()),
  },
  {
    name: "__arrow_type",
    parameters: ["text"],
    result: "text",
    compute: kept((type) => encoder.encode(arrowTypeName(type!, decodeNames))),
  },
  // for patterns or replacements that are not constant; rewrite/regex-function.ts translates constants
  {
    name: "__regex",
    parameters: ["text", "text"],
    result: "text",
    compute: kept((pattern, flags) => encoder.encode(translateRegex(pattern!, withoutGlobal(flags!)).pattern)),
  },
  // a pattern of LIKE and its escape character (like-patterns.ts)
  {
    name: "__like_regex",
    parameters: ["text", "text"],
    result: "text",
    compute: kept((pattern, mark) => encoder.encode(regexOf(pattern!, mark!))),
  },
  {
    name: "__regex_groups",
    parameters: ["text"],
    result: "integer",
    compute: kept((pattern) => translateRegex(pattern!).groups.length),
  },
  {
    name: "__regex_replacement",
    parameters: ["text", "text", "text"],
    result: "text",
    compute: kept((pattern, flags, replacement) =>
      encoder.encode(translateReplacement(replacement!, translateRegex(pattern!, withoutGlobal(flags!)).groups)),
    ),
  },
];
