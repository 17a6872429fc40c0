// Variables in templates.
import type { VariableArguments } from "../../metadata/resources/pages/variables.ts";
import { type SpecReader, textIn } from "../spec-reader.ts";
import { isMembers } from "../template-object.ts";

export interface VariableSpec {
  readonly category: "Variable";
  readonly arguments: ArgumentsOfTemplate;
  readonly selected: readonly string[];
}

/** A template may have none, or some of a type that no variable has: such a variable is shown in a plan and cannot be made. */
export type ArgumentsOfTemplate = VariableArguments | null | { readonly type: string; readonly values: null };

/** Errors are collected in the reader. */
export function readVariable(spec: SpecReader): VariableSpec {
  return { category: "Variable", arguments: readArguments(spec), selected: spec.names("selected").filter((each) => each !== "") };
}

/** True for arguments with which a variable can be made. */
export function areComplete(args: ArgumentsOfTemplate): args is VariableArguments {
  return args !== null && args.values !== null;
}

function readArguments(spec: SpecReader): ArgumentsOfTemplate {
  const type = spec.text("type").trim().toLowerCase();
  switch (type) {
    case "":
      return null;
    case "map": {
      const given = spec.raw("values");
      const pairs = Object.entries(isMembers(given) ? given : {}).flatMap(([key, value]) => {
        const text = textIn(value);
        return text === null ? [] : [[key, text] as const];
      });
      if (pairs.length === 0) spec.issue("values", "map variable must have at least 1 key/val pair");
      return { type, values: Object.fromEntries(pairs) };
    }
    case "constant": {
      const values = spec.texts("values");
      if (values.length === 0) spec.issue("values", "constant variable must have a least 1 value provided");
      return { type, values };
    }
    case "query": {
      const query = spec.text("query").trim();
      const language = spec.text("language").trim().toLowerCase();
      if (query === "") spec.issue("query", "query variable must provide a query string");
      if (language !== "flux" && language !== "influxql") {
        spec.issue("language", `query variable language must be either "influxql" or "flux"; got ${JSON.stringify(language.slice(0, 64))}`);
      }
      return { type, values: { query, language } };
    }
    default:
      return { type, values: null };
  }
}
