// Trees as a client could send them: the JSON of recorded scripts with members of other types, nodes in other places, and lists in lists.
import { packageJson } from "../../src/flux/parse/json.ts";
import { parseFile } from "../../src/flux/parse/parser.ts";
import { type Below, pick } from "../support/prng.ts";

const SCALARS: readonly unknown[] = [
  ...[null, true, 0, -1, 1.5, 1e308, 2 ** 63, "", "x", "1", "9223372036854775808", "__proto__", "(", "2024-99-01T00:00:00Z", [], {}, [[]]],
  ...[{ type: "File" }, { type: "Identifier" }, { type: "constructor" }, { type: "Block", body: [] }, { type: "PipeLiteral" }],
];

/** The JSON of a script's tree with a few members changed. */
export function changedTree(scripts: readonly string[], below: Below): unknown {
  const text = pick(below, scripts);
  const tree = JSON.parse(JSON.stringify(packageJson(parseFile(text), text))) as unknown;
  for (let edits = below(4); edits >= 0; edits--) {
    const places = placesOf(tree);
    if (places.length === 0) break;
    const { holder, name } = pick(below, places);
    holder[name] = changed(holder[name], places, below);
  }
  return tree;
}

interface Place {
  readonly holder: Record<string, unknown>;
  readonly name: string;
}

function changed(value: unknown, places: readonly Place[], below: Below): unknown {
  switch (below(6)) {
    case 0: {
      const { holder, name } = pick(below, places);
      return JSON.parse(JSON.stringify(holder[name] ?? null));
    }
    case 1:
      return Array.isArray(value) ? [...value, ...value] : [value];
    case 2: {
      let nested: unknown = value ?? { type: "IntegerLiteral", value: "1" };
      for (let depth = below(300); depth > 0; depth--) nested = { type: "ParenExpression", expression: nested };
      return nested;
    }
    case 3:
      return undefined;
    default:
      return structuredClone(pick(below, SCALARS));
  }
}

/** Members of all nodes, without places in a text. */
function placesOf(tree: unknown): Place[] {
  const places: Place[] = [];
  const visit = (value: unknown): void => {
    if (value === null || typeof value !== "object") return;
    for (const [name, member] of Object.entries(value)) {
      if (name === "location" || places.length > 5000) continue;
      places.push({ holder: value as Record<string, unknown>, name });
      visit(member);
    }
  };
  visit(tree);
  return places;
}
