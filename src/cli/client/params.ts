// Values of statement placeholders, given as `--param name=value`.
import { near, TsdbError } from "../../model/errors.ts";
import { type Input, type Option, SEPARATOR } from "./options.ts";

export const PARAM: Option = {
  name: "param",
  value: "NAME=VALUE",
  help: "Value of $NAME; may be repeated. Numbers, true, false and null are literals; everything else, and text in double quotes such as 'id=\"7\"', is a string.",
  joinedBy: SEPARATOR,
};

const NAME = /^\$?([A-Za-z_][A-Za-z0-9_]*)$/;
/** Numbers of RFC 8259, section 6, and the literals. */
const PLAIN = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

/** The JSON object of all given parameters. @throws TsdbError config */
export function paramsOf(input: Pick<Input, "option">): string {
  const given = new Map<string, string>();
  for (const text of input.option(PARAM.name)?.split(SEPARATOR) ?? []) {
    const equals = text.indexOf("=");
    const name = NAME.exec(equals < 0 ? text : text.slice(0, equals))?.[1];
    if (name === undefined || equals < 0) throw wrong(`write NAME=VALUE, got "${near(text)}"`);
    if (given.has(name)) throw wrong(`${name} is given twice`);
    given.set(name, jsonOf(text.slice(equals + 1)));
  }
  return `{${[...given].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`;
}

/** As JSON: numbers are kept as written, because they may have more digits than a double. */
function jsonOf(text: string): string {
  if (PLAIN.test(text)) return text;
  const quoted = /^"(.*)"$/s.exec(text)?.[1];
  return JSON.stringify(quoted ?? text);
}

function wrong(message: string): TsdbError {
  return new TsdbError("config", `--param: ${message}`, {});
}
