// Packages `contrib/qxip/hash` and `contrib/bonitoo-io/hex`: digests and hexadecimal texts.
import { FluxError } from "../../values/flux-error.ts";
import { fullTimeText, quotedText, stringOf } from "../../values/text.ts";
import { Bytes, isNull, kindOf, Null, Time, UInt } from "../../values/value.ts";
import type { LibraryPackage, NativeBody, NativeCall } from "../native-call.ts";
import { typeText } from "../universe/conversions.ts";
import { cityHash64 } from "./city-hash.ts";

/** A null stays null; only strings are hashed. @param shown the name that errors have */
function ofText(shown: string, make: (text: string, call: NativeCall) => string): NativeBody {
  return (call) => {
    const value = call.value("v");
    if (isNull(value)) return Null.of("string");
    if (typeof value !== "string") throw new FluxError(`hash cannot convert ${typeText(value)} to ${shown}`);
    return make(value, call);
  };
}

const digest = (algorithm: "sha256" | "sha1" | "md5"): NativeBody =>
  ofText(algorithm, (text) => new Bun.CryptoHasher(algorithm).update(text).digest("hex"));
const urlBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64").replaceAll("+", "-").replaceAll("/", "_");

export const HASH: LibraryPackage = {
  path: "contrib/qxip/hash",
  name: "hash",
  source: `
${["sha256", "sha1", "xxhash64", "cityhash64", "b64", "md5"].map((name) => `builtin ${name} : (v: A) => string`).join("\n")}
builtin hmac : (v: A, k: A) => string
`,
  natives: {
    sha256: digest("sha256"),
    sha1: digest("sha1"),
    md5: digest("md5"),
    xxhash64: ofText("sha256", (text) => String(Bun.hash.xxHash64(text))),
    cityhash64: ofText("sha256", (text) => String(cityHash64(new TextEncoder().encode(text)))),
    b64: ofText("b64", (text) => urlBase64(new TextEncoder().encode(text))),
    hmac: ofText("hmac", (text, call) => new Bun.CryptoHasher("sha1", call.string("k")).update(text).digest("base64")),
  },
};

/** @throws FluxError */
/** What is wrong with hexadecimal digits, by bytes. */
function hexProblem(text: string): string {
  const wrong = Buffer.from(text).find((byte) => !/[0-9a-fA-F]/.test(String.fromCharCode(byte)));
  if (wrong === undefined) return "odd length hex string";
  const code = wrong.toString(16).toUpperCase().padStart(4, "0");
  const isShown = wrong >= 0x20 && wrong !== 0x7f && !(wrong > 0x7f && wrong <= 0xa0) && wrong !== 0xad;
  return `invalid byte: U+${code}${isShown ? ` '${String.fromCharCode(wrong)}'` : ""}`;
}

function parseHex(call: NativeCall, type: "int" | "uint"): bigint | null {
  const value = call.value("v");
  if (isNull(value)) return null;
  if (typeof value !== "string") throw new FluxError(`hex cannot convert ${kindOf(value)} to ${type}`);
  const [, sign = "", digits] = /^([+-]?)(?:0x)?([0-9a-fA-F]+)$/.exec(value) ?? [];
  const parsed = digits === undefined || (type === "uint" && sign !== "") ? null : BigInt(`0x${digits}`) * (sign === "-" ? -1n : 1n);
  const isInRange = parsed !== null && (type === "int" ? BigInt.asIntN(64, parsed) : BigInt.asUintN(64, parsed)) === parsed;
  if (!isInRange) throw new FluxError(`cannot convert string ${quotedText(value)} to ${type} due to invalid syntax`);
  return parsed;
}

export const HEX: LibraryPackage = {
  path: "contrib/bonitoo-io/hex",
  name: "hex",
  source: `
builtin int : (v: string) => int
builtin string : (v: A) => string
builtin uint : (v: string) => uint
builtin bytes : (v: string) => bytes
`,
  natives: {
    int: (call) => parseHex(call, "int") ?? Null.of("int"),
    uint: (call) => {
      const parsed = parseHex(call, "uint");
      return parsed === null ? Null.of("uint") : new UInt(parsed);
    },
    string: (call) => {
      const value = call.value("v");
      if (isNull(value)) return Null.of("string");
      if (typeof value === "bigint") return value.toString(16);
      if (value instanceof UInt) return value.value.toString(16);
      if (value instanceof Time) return fullTimeText(value.ns);
      const text = value instanceof Bytes ? Buffer.from(value.bytes).toString("hex") : stringOf(value);
      if (text === null) throw new FluxError(`cannot convert ${typeText(value)} to string`);
      return text;
    },
    bytes: (call) => {
      const text = call.string("v");
      if (/^([0-9a-fA-F]{2})*$/.test(text)) return new Bytes(Buffer.from(text, "hex"));
      throw new FluxError(
        `cannot convert string ${quotedText(text)} to bytes due to hex decoding error: encoding/hex: ${hexProblem(text)}`,
      );
    },
  },
};
