// Types as error messages show them. Variables are named A, B, … in the order in which they appear.
import { resolve, type Type, type TypeVariable } from "./type.ts";
import type { TypeWork } from "./type-work.ts";

const LETTERS = 26;

/** Prints types with the same names for the same variables. */
export class TypePrinter {
  private readonly names = new Map<TypeVariable, string>();

  constructor(private readonly work: TypeWork) {}

  print(given: Type): string {
    this.work.visit();
    const type = resolve(given);
    switch (type.kind) {
      case "variable":
        return this.nameOf(type);
      case "basic":
        return type.name;
      case "array":
        return `[${this.print(type.element)}]`;
      case "stream":
      case "vector":
        return `${type.kind}[${this.print(type.element)}]`;
      case "dictionary":
        return `[${this.print(type.key)}:${this.print(type.value)}]`;
      case "dynamic":
        return "dynamic";
      case "empty":
      case "field":
        return this.printRecord(type);
      case "function":
        return this.printFunction(type);
      case "error":
        return "<error>";
    }
  }

  private printRecord(type: Type): string {
    const fields: (Type & { kind: "field" })[] = [];
    let rest = type;
    while (rest.kind === "field") {
      fields.push(rest);
      rest = resolve(rest.rest);
    }
    // it is shown first, so it is named first
    const head = rest.kind === "variable" ? `${this.nameOf(rest)} with ` : "";
    return `{${head}${fields.map(({ label, type: each }) => `${label}: ${this.print(each)}`).join(", ")}}`;
  }

  private printFunction(type: Type & { kind: "function" }): string {
    const parameters = [
      ...(type.pipe === null ? [] : [`<-${type.pipe.name === "<-" ? "" : type.pipe.name}: ${this.print(type.pipe.type)}`]),
      ...[...type.required].map(([name, each]) => `${name}: ${this.print(each)}`),
      ...[...type.optional].map(([name, each]) => `?${name}: ${this.print(each)}`),
    ];
    return `(${parameters.join(", ")}) => ${this.print(type.result)}`;
  }

  private nameOf(variable: TypeVariable): string {
    let name = this.names.get(variable);
    if (name === undefined) {
      const index = this.names.size;
      name = index < LETTERS ? String.fromCharCode("A".charCodeAt(0) + index) : `t${index}`;
      this.names.set(variable, name);
    }
    return name;
  }
}

const INFO: Partial<Readonly<Record<Type["kind"], string>>> = {
  function: " (function)",
  dictionary: " (dictionary)",
  field: " (record)",
  empty: " (record)",
  dynamic: " (dynamic)",
  array: " (array)",
  vector: " (vector)",
};

/** What a type is, behind its text; nothing for those that say it themselves. */
export function typeInfo(type: Type): string {
  return INFO[resolve(type).kind] ?? "";
}
