// What all texts of types have in common: names of variables, and the order of a record's properties.
import { fieldsOf, type Type, type TypeVariable } from "./type.ts";

const LETTERS = 26;

/** Names of variables: A, B, … in the order in which they are asked for. */
export class VariableNames {
  private readonly names = new Map<TypeVariable, string>();

  of(variable: TypeVariable): string {
    let name = this.names.get(variable);
    if (name === undefined) {
      const index = this.names.size;
      name = index < LETTERS ? String.fromCharCode("A".charCodeAt(0) + index) : `t${index}`;
      this.names.set(variable, name);
    }
    return name;
  }
}

/** The properties of a record by their labels, and what it extends. */
export function sortedFields(type: Type): ReturnType<typeof fieldsOf> {
  const { fields, rest } = fieldsOf(type);
  fields.sort((a, b) => (a.label < b.label ? -1 : a.label > b.label ? 1 : 0));
  return { fields, rest };
}
