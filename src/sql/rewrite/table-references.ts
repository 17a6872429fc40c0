// Counts references to each table: a WITH entry with a single reference may be narrowed by it.
import type { QueryNode } from "../parse/tree.ts";

/** The table references of one statement. */
export class TableReferences {
  private counts: Map<string, number> | null = null;

  constructor(private readonly root: QueryNode) {}

  /** References to a name without a schema; entries of the same name are counted together. */
  count(name: string): number {
    if (this.counts === null) {
      this.counts = new Map();
      this.visit(this.root);
    }
    return this.counts.get(name) ?? 0;
  }

  private visit(value: unknown): void {
    if (value === null || typeof value !== "object") return;
    if (Array.isArray(value)) {
      for (const item of value) this.visit(item);
      return;
    }
    const node = value as { readonly [member: string]: unknown };
    if (node["type"] === "BASE_TABLE" && typeof node["table_name"] === "string") {
      this.counts!.set(node["table_name"], (this.counts!.get(node["table_name"]) ?? 0) + 1);
    }
    for (const member in node) this.visit(node[member]);
  }
}
