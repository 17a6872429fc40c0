// An expression of a select list in the form needed for its name. The vendor prints expressions in two forms: the short one names columns
// (without casts and aliases), the long one is used inside some names, such as for arguments of a function called by its second name.

/** A query in an expression, by the token position of its SELECT; null: its first column has no name of its own. */
export type InnerQuery = number | null;

export type NameNode =
  | { readonly kind: "text"; readonly text: string }
  /** As written, including a minus sign. */
  | { readonly kind: "number"; readonly written: string; readonly isNegative: boolean }
  | { readonly kind: "interval"; readonly written: string; readonly isNegative: boolean }
  /** As written, without quotes. */
  | { readonly kind: "column"; readonly names: readonly string[] }
  /** Text around expressions, the same in both forms unless there is a long form. */
  | { readonly kind: "parts"; readonly parts: readonly (string | NameNode)[]; readonly long?: NameCall }
  | { readonly kind: "binary"; readonly left: NameNode; readonly operator: string; readonly right: NameNode }
  | { readonly kind: "cast"; readonly value: NameNode; readonly type: string; readonly isTry: boolean }
  | { readonly kind: "in"; readonly value: NameNode; readonly isNot: boolean; readonly items: readonly NameNode[] }
  | { readonly kind: "query"; readonly form: "scalar"; readonly query: InnerQuery }
  /** IN and EXISTS: the short form omits the query. */
  | { readonly kind: "query"; readonly form: "test"; readonly value: NameNode | null; readonly words: string }
  | NameCall;

export interface NameCall {
  readonly kind: "call";
  readonly name: string;
  /** The second name used in the call. */
  readonly written: string | null;
  readonly args: readonly NameNode[];
  readonly isDistinct: boolean;
  /** IGNORE NULLS and the like. */
  readonly nulls: string;
  readonly filter: NameNode | null;
  readonly orders: readonly NameOrder[];
  /** True if the orders are those of WITHIN GROUP. */
  readonly isWithinGroup: boolean;
  readonly over: WindowSlot | null;
}

export interface NameOrder {
  readonly value: NameNode;
  readonly isDescending: boolean;
  readonly nullsFirst: boolean;
}

export interface NameWindow {
  readonly partitions: readonly NameNode[];
  readonly orders: readonly NameOrder[];
  readonly frame: NameFrame | null;
}

export interface NameFrame {
  readonly unit: string;
  readonly start: string;
  readonly end: string;
}

/** A window, or the name of one defined after the select list. */
export interface WindowSlot {
  window: NameWindow | null;
  readonly base: string | null;
}

export const UNNEST = "UNNEST";

export const text = (words: string): NameNode => ({ kind: "text", text: words });

export const parts = (...list: readonly (string | NameNode)[]): Extract<NameNode, { kind: "parts" }> => ({ kind: "parts", parts: list });

/** A call without DISTINCT, FILTER, ORDER BY and OVER. */
export function plainCall(name: string, args: readonly NameNode[], written: string | null = null): NameCall {
  return {
    ...{ kind: "call", name, written, args, isDistinct: false, nulls: "", filter: null },
    ...{ orders: [], isWithinGroup: false, over: null },
  };
}
