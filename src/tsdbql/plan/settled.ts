// Conditions of v3 on the columns of one source: a comparison with a column that is not there is false, and so is one between two tags;
// a boolean field alone is a condition, and `::tag` and `::field` are ignored. In 1.x an absent column is a tag without a value.
import { TsdbError } from "../../model/errors.ts";
import type { Expression } from "../parse/ast.ts";
import { mapLeaves } from "../parse/map-leaves.ts";
import { printExpression } from "../parse/print.ts";
import type { Schema } from "./types.ts";

const FALSE: Expression = { kind: "boolean", value: false };

/** @param tags those of the source, and those that it shows @throws TsdbError bad_query for a column alone that is no boolean field */
export function settledCondition(condition: Expression, schema: Schema, tags: ReadonlySet<string> = schema.tags): Expression {
  switch (condition.kind) {
    case "paren":
      return settledCondition(condition.inner, schema, tags);
    case "ref": {
      if (isAbsent(condition.name, schema)) return FALSE;
      if (schema.fields.get(condition.name) === "boolean") {
        return { kind: "binary", operator: "=", left: withoutKind(condition), right: { kind: "boolean", value: true } };
      }
      throw new TsdbError("bad_query", `invalid condition expression: ${printExpression(condition)}`);
    }
    case "binary": {
      const { operator, left, right } = condition;
      if (operator !== "AND" && operator !== "OR") {
        const isNever = hasAbsent(condition, schema) || (isTag(left, tags) && isTag(right, tags));
        return isNever ? FALSE : mapLeaves(condition, withoutKind);
      }
      return { ...condition, left: settledCondition(left, schema, tags), right: settledCondition(right, schema, tags) };
    }
    default:
      return condition;
  }
}

function withoutKind(leaf: Expression): Expression {
  return leaf.kind === "ref" && (leaf.cast === "tag" || leaf.cast === "field") ? { ...leaf, cast: null } : leaf;
}

function isTag(expression: Expression, tags: ReadonlySet<string>): boolean {
  if (expression.kind === "paren") return isTag(expression.inner, tags);
  return expression.kind === "ref" && tags.has(expression.name);
}

function isAbsent(name: string, { fields, tags }: Schema): boolean {
  return !fields.has(name) && !tags.has(name);
}

function hasAbsent(expression: Expression, schema: Schema): boolean {
  switch (expression.kind) {
    case "ref":
      return isAbsent(expression.name, schema);
    case "binary":
      return hasAbsent(expression.left, schema) || hasAbsent(expression.right, schema);
    case "paren":
      return hasAbsent(expression.inner, schema);
    case "call":
      return expression.args.some((arg) => hasAbsent(arg, schema));
    default:
      return false;
  }
}
