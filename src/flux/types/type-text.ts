// Types of functions as values show them: on one line, variables A, B, … in the order in which they appear.
import { FluxError } from "../values/flux-error.ts";
import { type FunctionType, resolve, type Type } from "./type.ts";
import { sortedFields, VariableNames } from "./type-names.ts";

/** Parts of one type: a type may hold another one many times over, so a few lines can have one of 2^60 parts. */
const PARTS_MAX = 10_000;

/** The type on one line. @throws FluxError: the type is too large */
export function typeLine(type: Type): string {
  return new LinePrinter().print(type);
}

class LinePrinter {
  private readonly names = new VariableNames();
  private parts = 0;

  print(given: Type): string {
    if (++this.parts > PARTS_MAX) throw new FluxError("the type is too large to be shown");
    const type = resolve(given);
    switch (type.kind) {
      case "variable":
        return this.names.of(type);
      case "basic":
        return type.name;
      case "array":
        return `[${this.print(type.element)}]`;
      case "stream":
        return `stream[${this.print(type.element)}]`;
      case "vector":
        return `v[${this.print(type.element)}]`;
      case "dictionary":
        return `[${this.print(type.key)}: ${this.print(type.value)}]`;
      case "dynamic":
        return "dynamic";
      case "empty":
      case "field":
        return this.record(type);
      case "function":
        return this.function(type);
      case "error":
        return "<error>";
    }
  }

  /** Variables of the properties are named before the extended one. */
  private record(type: Type): string {
    const { fields, rest } = sortedFields(type);
    const properties = fields.map(({ label, type: each }) => `${label}: ${this.print(each)}`).join(", ");
    return rest.kind === "variable" ? `{${this.names.of(rest)} with ${properties}}` : `{${properties}}`;
  }

  private function({ required, optional, pipe, result }: FunctionType): string {
    const parameters = [
      ...required.map(([name, type]) => ({ name, mark: "", type })),
      ...optional.map(([name, type]) => ({ name, mark: "?", type })),
      ...(pipe === null ? [] : [{ name: pipe.name, mark: "<-", type: pipe.type }]),
    ].sort((a, b) => (a.name < b.name ? -1 : 1));
    return `(${parameters.map(({ name, mark, type }) => `${mark}${name}: ${this.print(type)}`).join(", ")}) => ${this.print(result)}`;
  }
}
