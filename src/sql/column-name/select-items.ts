// Processes the items of all select lists in a statement's tokens. An unnamed item gets an alias that stands for its name; the final name
// depends on the tables, and is determined on the tree (bind-names.ts).
import { ident, internalName } from "../parse/names.ts";
import type { Token } from "../parse/tokens.ts";
import { startsQuery } from "./call.ts";
import { readExpression } from "./expression.ts";
import type { NameNode, NameWindow, WindowSlot } from "./node.ts";
import { TokenReader } from "./token-reader.ts";
import { readWindow } from "./window.ts";

/** The name of a query's first column: a text, or the number of a name. */
export type FirstItem = { readonly text: string } | { readonly name: number };

export interface ItemNames {
  /** By the numbers in the aliases. */
  readonly nodes: readonly NameNode[];
  /** First items by the positions of their SELECTs. */
  readonly firsts: ReadonlyMap<number, FirstItem>;
  /** Number of SELECTs in the statement. */
  readonly selectCount: number;
  /** The positions that names depend on: a literal elsewhere is in no name. */
  readonly spans: readonly NameSpan[];
}

/** Characters of the statement, `end` excluded. */
export interface NameSpan {
  readonly start: number;
  readonly end: number;
}

export interface NamedTokens {
  readonly tokens: readonly Token[];
  readonly names: ItemNames;
}

const ALIAS = "name";

/** The alias of a name; `aliasNumber` is the inverse. */
const aliasOf = (index: number) => internalName(ALIAS, index);

const ALIAS_PATTERN = new RegExp(`^${internalName(ALIAS, 0).slice(0, -1)}(\\d+)$`);

/** The number of the name that an alias stands for; null: a user's alias. */
export function aliasNumber(alias: string): number | null {
  const match = ALIAS_PATTERN.exec(alias);
  return match === null ? null : Number(match[1]);
}

/** Keywords that may follow a select list. */
const BEHIND: ReadonlySet<string> = new Set(
  `from where group having order limit offset union intersect except minus window qualify fetch into sort cluster distribute for
   using`.split(/\s+/),
);
const STAR_CLAUSES: ReadonlySet<string> = new Set(["exclude", "except", "replace", "rename"]);

/** Adds an alias for each unnamed item of the select lists. */
export function nameItems(tokens: readonly Token[]): NamedTokens {
  const list = new ItemLists(tokens);
  for (let at = 0; at < tokens.length; at++) if (tokens[at]!.kind === "word" && tokens[at]!.text === "select") list.read(at);
  return list.result();
}

interface Item {
  readonly node: NameNode;
  /** Its first and last token. */
  readonly first: number;
  readonly last: number;
  /** Named windows that it uses. */
  readonly slots: readonly WindowSlot[];
}

class ItemLists {
  private readonly reader: TokenReader;
  private readonly nodes: NameNode[] = [];
  private readonly firsts = new Map<number, FirstItem>();
  private readonly spans: NameSpan[] = [];
  /** Tokens to insert, by the token that they follow. */
  private readonly added = new Map<number, Token>();
  private selectCount = 0;

  constructor(private readonly tokens: readonly Token[]) {
    this.reader = new TokenReader(tokens, readExpression);
  }

  result(): NamedTokens {
    const { nodes, firsts, added, selectCount, spans } = this;
    const names = { nodes, firsts, selectCount, spans };
    if (added.size === 0) return { tokens: this.tokens, names };
    const tokens = this.tokens.flatMap((token, i) => {
      const next = added.get(i);
      return next === undefined ? [token] : [token, next];
    });
    return { tokens, names };
  }

  /** Processes the list of the SELECT at `select`. */
  read(select: number): void {
    const { reader } = this;
    this.selectCount++;
    reader.at = select + 1;
    if (!reader.takeWord("distinct")) reader.takeWord("all");
    else if (reader.takeWord("on") && reader.isSymbol("(")) reader.at = reader.brackets.closing(reader.at) + 1;
    const items: Item[] = [];
    let first: FirstItem | "named" | null = null;
    for (let i = 0; i === 0 || reader.takeSymbol(","); i++) {
      const item = this.item();
      const isNamed = item !== null && "node" in item;
      if (isNamed) items.push(item);
      if (i === 0) first = isNamed ? "named" : item;
    }
    const windows = items.some(({ slots }) => slots.length > 0) ? this.windows() : NO_WINDOWS;
    for (const [i, item] of items.entries()) {
      const name = this.name(item, windows);
      if (i === 0 && first === "named") first = name;
    }
    if (first !== null && first !== "named") this.firsts.set(select, first);
  }

  /** Skips an item and returns it if unnamed, otherwise its name; null: unknown. */
  private item(): Item | FirstItem | null {
    const { reader } = this;
    const start = reader.at;
    if (this.star()) return null;
    const slotCount = reader.slots.length;
    const node = reader.attempt(() => reader.expression());
    const last = reader.at - 1;
    const alias = node === null ? null : this.alias();
    // a bracket of a type that does not close ends behind the statement
    if (node === null || reader.at > this.tokens.length || !this.isAtEnd()) {
      this.skip(start);
      return null;
    }
    if (alias !== null) {
      if (alias.isBare) this.add(last, "AS ");
      return { text: alias.text };
    }
    // not `+a`, nor `(a)`
    if (node.kind === "column" && node.names.length === 1 && last === start) return { text: node.names[0]! };
    return { node, first: start, last, slots: reader.slots.slice(slotCount) };
  }

  private name({ node, first, last, slots }: Item, windows: ReadonlyMap<string, NameWindow>): FirstItem | null {
    for (const slot of slots) {
      slot.window = windows.get(slot.base!) ?? null;
      if (slot.window === null) return null;
    }
    const name = this.nodes.length;
    this.nodes.push(node);
    // a named window may be anywhere behind
    const end = slots.length > 0 ? Number.POSITIVE_INFINITY : this.tokens[last]!.end;
    this.spans.push({ start: this.tokens[first]!.start, end });
    this.add(last, `AS ${ident(aliasOf(name))}`);
    return { name };
  }

  /** Inserts a token with space around it. */
  private add(behind: number, text: string): void {
    const { end } = this.tokens[behind]!;
    this.added.set(behind, { kind: "word", text, start: end + 1, end });
  }

  private alias(): { readonly text: string; readonly isBare: boolean } | null {
    const { reader } = this;
    if (reader.takeWord("as")) return { text: reader.tokens[reader.at++]?.text ?? "", isBare: false };
    const { token } = reader;
    const isName = token?.kind === "quoted" || (token?.kind === "word" && !BEHIND.has(token.text));
    if (!isName) return null;
    reader.at++;
    return { text: token.text, isBare: token.kind === "word" };
  }

  private isAtEnd(): boolean {
    const { reader } = this;
    const { token } = reader;
    if (token === undefined) return true;
    if (token.kind === "symbol") return token.text === "," || token.text === ")" || token.text === ";";
    return token.kind === "word" && BEHIND.has(token.text);
  }

  /** Skips `*` and `t.*` with its EXCLUDE list; returns false if there is none. */
  private star(): boolean {
    const { reader } = this;
    let ahead = 0;
    while (reader.isSymbol(".", ahead + 1) && ["word", "quoted"].includes(reader.peek(ahead)!.kind)) ahead += 2;
    if (!reader.isSymbol("*", ahead)) return false;
    reader.at += ahead + 1;
    while (STAR_CLAUSES.has(reader.word()) && reader.isSymbol("(", 1) && !startsQuery(reader, 1)) {
      reader.at = reader.brackets.closing(reader.at + 1) + 1;
    }
    return true;
  }

  /** Skips to the next comma after `start`, or to the end of the list. */
  private skip(start: number): void {
    const { reader } = this;
    let depth = 0;
    for (reader.at = start; reader.token !== undefined; reader.at++) {
      const { kind, text } = reader.token;
      if (kind === "word" && depth === 0 && BEHIND.has(text)) return;
      if (kind !== "symbol") continue;
      if (text === "(") reader.at = Math.min(reader.brackets.closing(reader.at), reader.tokens.length - 1);
      else if (text === "[" || text === "{") depth++;
      else if ((text === "]" || text === "}") && depth > 0) depth--;
      else if (depth === 0 && (text === "," || text === ")" || text === ";")) return;
    }
  }

  /** The WINDOW clause after the select list. */
  private windows(): ReadonlyMap<string, NameWindow> {
    const { reader } = this;
    for (; reader.token !== undefined; reader.at++) {
      const { kind, text } = reader.token;
      if (kind === "symbol" && text === "(") reader.at = reader.brackets.closing(reader.at);
      else if (kind === "symbol" && (text === ")" || text === ";")) break;
      else if (kind === "word" && SET_OPERATIONS.has(text)) break;
      else if (kind === "word" && text === "window") {
        return reader.attempt(() => readWindows(reader)) ?? NO_WINDOWS;
      }
    }
    return NO_WINDOWS;
  }
}

const NO_WINDOWS: ReadonlyMap<string, NameWindow> = new Map();
const SET_OPERATIONS: ReadonlySet<string> = new Set(["union", "except", "intersect"]);

/** `WINDOW a AS (…), b AS (…)` */
function readWindows(reader: TokenReader): ReadonlyMap<string, NameWindow> {
  const windows = new Map<string, NameWindow>();
  reader.expectWord("window");
  do {
    const name = reader.next().text;
    reader.expectWord("as");
    windows.set(name, readWindow(reader));
  } while (reader.takeSymbol(","));
  return windows;
}
