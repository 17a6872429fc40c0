// Names of select list items.
import { decodeNames, encodeName } from "../parse/names.ts";
import type { Expression } from "../parse/tree.ts";
import { displayName } from "../print/display-name.ts";

/** The name that an item gets; null if it has its own. */
export function itemAlias(item: Expression): string | null {
  return item.alias !== "" ? item.alias : defaultAlias(item);
}

/** The name of an unnamed expression in the user's words; null for columns, which keep theirs, and for expressions with several columns. */
function defaultAlias(item: Expression): string | null {
  if (item.class === "COLUMN_REF" || item.class === "STAR" || containsStar(item)) return null;
  return encodeName(decodeNames(displayName(item)));
}

/** True if the expression contains `*`. */
export function containsStar(node: Expression): boolean {
  switch (node.class) {
    case "STAR":
      return true;
    case "FUNCTION":
    case "OPERATOR":
    case "CONJUNCTION":
    case "WINDOW":
      return node.children.some(containsStar);
    case "CAST":
    case "COLLATE":
      return containsStar(node.child);
    case "COMPARISON":
      return containsStar(node.left) || containsStar(node.right);
    case "BETWEEN":
      return [node.input, node.lower, node.upper].some(containsStar);
    case "CASE":
      return (
        containsStar(node.else_expr) || node.case_checks.some((check) => containsStar(check.when_expr) || containsStar(check.then_expr))
      );
    default:
      return false;
  }
}
