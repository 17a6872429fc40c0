// Variables in templates.
import type { VariableArguments } from "../../metadata/resources/pages/variables.ts";
import type { SpecReader } from "../spec-reader.ts";
import { isMembers } from "../template-object.ts";

export interface VariableSpec {
  readonly category: "Variable";
  readonly arguments: VariableArguments;
  readonly selected: readonly string[];
}

/** Errors are collected in the reader. */
export function readVariable(spec: SpecReader): VariableSpec {
  return { category: "Variable", arguments: readArguments(spec), selected: spec.texts("selected") };
}

function readArguments(spec: SpecReader): VariableArguments {
  const type = spec.text("type").toLowerCase();
  if (type === "map") {
    const values = spec.raw("values");
    if (isMembers(values) && Object.keys(values).length > 0) {
      return { type, values: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, String(value)])) };
    }
    spec.issue("values", "wanted an object that is not empty");
    return { type, values: {} };
  }
  if (type === "constant") {
    const values = spec.texts("values");
    if (values.length === 0) spec.issue("values", "wanted a list that is not empty");
    return { type, values };
  }
  if (type !== "query") spec.issue("type", "wanted one of constant, map, query");
  const query = spec.text("query");
  const language = spec.text("language").toLowerCase();
  if (type === "query" && query === "") spec.issue("query", "is required");
  if (type === "query" && language !== "flux" && language !== "influxql") spec.issue("language", "wanted flux or influxql");
  return { type: "query", values: { query, language } };
}
