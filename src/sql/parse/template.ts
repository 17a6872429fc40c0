// DuckDB's tree of a statement with slots for its literals, shared by statements that differ only in values.
//
// A literal is variable if the tree contains it as a constant at its own location with the expected value: then DuckDB's parser only passed
// it on. All others are fixed, hence part of the template: a type's width, a sample's size, a string used as a name, and everything in
// GROUP BY, where the parser looks for equal expressions.
import type { EncodedText } from "./encoded-text.ts";
import { isValueOf, type Literal, literalsOf, literalValue } from "./literals.ts";
import type { SqlValue } from "./sql-value.ts";
import type { Constant, LiteralList, QueryNode } from "./tree.ts";

type Node = { readonly [member: string]: unknown };

/** A slot for the value of a literal. */
class Slot {
  constructor(
    readonly literal: number,
    /** True if the parser included a preceding minus. */
    readonly negative: boolean,
  ) {}
}

/** A node that is copied with its plain members, and those that are filled separately. */
class Form {
  constructor(
    readonly node: Node,
    readonly members: readonly (readonly [key: string, form: unknown])[],
  ) {}
}

/** A list that is copied, with forms of its items. */
class Items {
  constructor(readonly forms: readonly unknown[]) {}
}

/** A slot for the nodes of a list's literals. */
class ListSlot {
  constructor(
    readonly literal: number,
    /** The first of them. */
    readonly node: Node,
  ) {}
}

/** The template of one statement shape. */
export class Template {
  private constructor(
    private readonly root: Form | Node,
    /** Literals that are equal in all statements of this template; ascending. */
    readonly fixed: readonly number[],
    /** True if each list of literals is an IN list, which may have any length. Otherwise the statement must be parsed with all its
     *  literals. */
    readonly hasAllLists: boolean,
  ) {}

  /** Creates the template of `text` with `literals` from its `tree`. */
  static from(tree: QueryNode, text: EncodedText, literals: readonly Literal[]): Template {
    const builder = new Builder(text, literals);
    const root = builder.form(tree as unknown as Node, { isGrouped: false, isInside: false });
    return new Template(
      root,
      literals.map((_, i) => i).filter((i) => !builder.varying.has(i) || builder.fixed.has(i)),
      literals.every(({ list }, i) => list === undefined || builder.lists.has(i)),
    );
  }

  /** A tree with these literals; locations are token numbers. Its expressions without literals are those of the template. */
  fill(literals: readonly Literal[]): QueryNode {
    return fill(this.root, literals) as QueryNode;
  }
}

/** Where a node is. */
interface Around {
  /** In GROUP BY. */
  readonly isGrouped: boolean;
  /** In an expression. */
  readonly isInside: boolean;
}

class Builder {
  /** Literals that are constants of the tree. */
  readonly varying = new Set<number>();
  /** Those among them that must not vary. */
  readonly fixed = new Set<number>();
  /** Lists that are IN lists. */
  readonly lists = new Set<number>();
  private readonly byToken: ReadonlyMap<number, number>;

  constructor(
    private readonly text: EncodedText,
    private readonly literals: readonly Literal[],
  ) {
    this.byToken = new Map(literals.map(({ token }, i) => [token, i]));
  }

  /** Returns the form that `fill` copies: nodes become forms, lists stay lists. An expression without literals is its own form, because
   *  rewrites copy what they change of expressions; queries, their clauses and the names of items are changed in place. */
  form(node: Node, { isGrouped, isInside }: Around): Form | Node {
    const isExpression = isInside || "class" in node;
    const isConstant = node["class"] === "CONSTANT";
    const built: Record<string, unknown> = {};
    const members: [key: string, form: unknown][] = [];
    for (const key in node) {
      const value = node[key];
      if (key === "query_location") {
        // unknown locations are numbers that arrive as text
        if (typeof value === "number") built[key] = this.text.tokenAt(value);
      } else if (value === null || typeof value !== "object" || (isConstant && key === "value")) built[key] = value;
      else {
        const place = { isGrouped: isGrouped || key === "group_expressions", isInside: isExpression && key !== "subquery" };
        const form = key === "select_list" ? new Items((value as Node[]).map((item) => this.item(item, place))) : this.member(value, place);
        built[key] = form;
        if (isFilled(form)) members.push([key, form]);
      }
    }
    const slot = isConstant ? this.slot(node, built["query_location"], isGrouped) : null;
    if (slot !== null) members.push(["value", slot]);
    if (node["class"] === "OPERATOR" && IN.has(node["type"]) && !isGrouped) this.list(members);
    return isExpression && members.length === 0 ? built : new Form(built, members);
  }

  /** A copy, because it is named in place. */
  private item(item: Node, { isGrouped }: Around): Form {
    const form = this.form(item, { isGrouped, isInside: false });
    return form instanceof Form ? form : new Form(form, []);
  }

  private member(value: unknown, place: Around): unknown {
    if (value === null || typeof value !== "object") return value;
    if (!Array.isArray(value)) return this.form(value as Node, place);
    const forms = value.map((item) => this.member(item, place));
    return place.isInside && !forms.some(isFilled) ? forms : new Items(forms);
  }

  /** The literals of an IN list, where there is nothing else in it. */
  private list(members: [key: string, form: unknown][]): void {
    const at = members.findIndex(([key]) => key === "children");
    const children = members[at]?.[1];
    if (!(children instanceof Items)) return;
    const [subject, first, ...others] = children.forms;
    if (others.length > 0 || !(first instanceof Form)) return;
    const slot = first.members.find(([key]) => key === "value")?.[1];
    if (!(slot instanceof Slot) || this.literals[slot.literal]!.list === undefined) return;
    this.lists.add(slot.literal);
    members[at] = ["children", new Items([subject, new ListSlot(slot.literal, first.node)])];
  }

  private slot(node: Node, token: unknown, isGrouped: boolean): Slot | null {
    if (typeof token !== "number") return null;
    const own = this.byToken.get(token);
    const signed = own === undefined && this.text.tokens[token]?.text === "-" ? this.byToken.get(token + 1) : undefined;
    const index = own ?? signed;
    if (index === undefined) return null;
    const negative = own === undefined;
    const matches = isValueOf(node["value"] as SqlValue, this.literals[index]!, negative);
    if (!matches || isGrouped) this.fixed.add(index);
    if (matches) this.varying.add(index);
    return matches ? new Slot(index, negative) : null;
  }
}

const IN: ReadonlySet<unknown> = new Set(["COMPARE_IN", "COMPARE_NOT_IN"]);

/** Whether a form is not the same in all trees. */
function isFilled(form: unknown): boolean {
  return form instanceof Form || form instanceof Items || form instanceof Slot;
}

function fill(form: unknown, literals: readonly Literal[]): unknown {
  if (form instanceof Form) {
    const filled: Record<string, unknown> = { ...form.node };
    for (const [key, member] of form.members) filled[key] = fill(member, literals);
    return filled;
  }
  if (form instanceof Items) return form.forms.map((item) => fill(item, literals));
  if (form instanceof ListSlot) return literalList(form, literals[form.literal]!);
  return form instanceof Slot ? literalValue(literals[form.literal]!, form.negative) : form;
}

function literalList({ node }: ListSlot, literal: Literal): LiteralList {
  const { query_location } = node as unknown as Constant;
  const place = query_location === undefined ? {} : { query_location };
  const values = literalsOf(literal).map((item) => literalValue(item, false));
  return { class: "LITERALS", type: "LITERALS", alias: "", ...place, kind: literal.kind, values };
}
