// Hash functions, and text encodings of binary data.
import type { Kind, Typed } from "../../bind/kind.ts";
import { typeName } from "../../bind/type-notes.ts";
import { call, castTo, type Expression, stringConstant } from "../../parse/tree.ts";
import { callAs, expectArguments, planError, type Rule, type RuleInput, type Rules } from "../rule.ts";

/** A text's UTF-8 bytes, or binary data unchanged. */
export function bytesOf(value: Typed): Expression {
  return value.kind === "binary" ? value.node : call("encode", [castTo(value.node, "VARCHAR")]);
}

const NO_BYTES: ReadonlySet<Kind> = new Set(["integer", "float", "boolean", "time", "date", "interval", "list", "struct", "map"]);

/** The same of an argument. @throws TsdbError bad_query for a value that is neither */
function ownBytes(value: Typed): Expression {
  if (NO_BYTES.has(value.kind)) throw planError(`a value of type ${typeName(value)} is neither a text nor binary data`);
  return bytesOf(value);
}

function md5(input: RuleInput): Typed {
  expectArguments(input, 1);
  return { node: callAs("md5", input, [ownBytes(input.args[0]!)]), kind: "string", arrow: "Utf8View" };
}

/** DuckDB's function returns hexadecimal digits. */
function sha256(input: RuleInput): Typed {
  expectArguments(input, 1);
  return { node: call("unhex", [callAs("sha256", input, [ownBytes(input.args[0]!)])]), kind: "binary" };
}

function hash(algorithm: string): Rule {
  return (input) => {
    expectArguments(input, 1);
    return { node: callAs("__digest", input, [stringConstant(algorithm), ownBytes(input.args[0]!)]), kind: "binary" };
  };
}

/** digest(value, algorithm) */
function digest(input: RuleInput): Typed {
  expectArguments(input, 2);
  const [value, algorithm] = input.args;
  if (algorithm!.text?.toLowerCase() === "sha256")
    return { node: call("unhex", [callAs("sha256", input, [ownBytes(value!)])]), kind: "binary" };
  return { node: callAs("__digest", input, [castTo(algorithm!.node, "VARCHAR"), ownBytes(value!)]), kind: "binary" };
}

const ENCODERS: Readonly<Record<string, string>> = { hex: "__to_hex", base64: "__to_base64", base64pad: "to_base64" };
const DECODERS: Readonly<Record<string, string>> = { hex: "__of_hex", base64: "__of_base64", base64pad: "__of_base64" };

/** encode(value, format), decode(text, format); with one argument DuckDB's functions apply. */
function coder(verb: "encode" | "decode", macros: Readonly<Record<string, string>>): Rule {
  return (input) => {
    const [value, format] = input.args;
    if (format === undefined)
      return input.args.length === 1 ? { node: callAs(verb, input), kind: verb === "encode" ? "binary" : "string" } : null;
    expectArguments(input, 2);
    const name = format.text?.toLowerCase() ?? "";
    const macro = Object.hasOwn(macros, name) ? macros[name]! : null;
    if (macro === null) {
      throw planError(
        `There is no built-in encoding named '${format.text ?? "not a constant"}', currently supported encodings are: base64, base64pad, hex`,
      );
    }
    if (verb === "encode") return { node: callAs(macro, input, [ownBytes(value!)]), kind: "string" };
    const text = value!.kind === "binary" ? call("decode", [value!.node]) : castTo(value!.node, "VARCHAR");
    return { node: callAs(macro, input, [text]), kind: "binary" };
  };
}

export const BINARY_RULES: Rules = {
  decode: coder("decode", DECODERS),
  digest,
  encode: coder("encode", ENCODERS),
  md5,
  sha224: hash("sha224"),
  sha256,
  sha384: hash("sha384"),
  sha512: hash("sha512"),
};
