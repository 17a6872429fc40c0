// The adapters of all categories.
import type { V2Line } from "../../../../metadata/line.ts";
import type { Category } from "../../../../templates/kinds.ts";
import type { Adapter } from "./adapter.ts";
import { checkAdapter, endpointAdapter, ruleAdapter } from "./alerts.ts";
import { bucketAdapter, labelAdapter } from "./buckets.ts";
import { dashboardAdapter, telegrafAdapter } from "./pages.ts";
import { taskAdapter } from "./tasks.ts";
import { variableAdapter } from "./variables.ts";

/** Adapters by category. */
export class Adapters {
  private readonly byCategory: ReadonlyMap<string, Adapter>;

  constructor(line: V2Line) {
    // each is asked for resources of its own category alone
    this.byCategory = new Map<Category, Adapter>([
      ["Bucket", bucketAdapter(line) as unknown as Adapter],
      ["Check", checkAdapter(line) as unknown as Adapter],
      ["Dashboard", dashboardAdapter(line) as unknown as Adapter],
      ["Label", labelAdapter(line) as unknown as Adapter],
      ["NotificationEndpoint", endpointAdapter(line) as unknown as Adapter],
      ["NotificationRule", ruleAdapter(line) as unknown as Adapter],
      ["Task", taskAdapter(line) as unknown as Adapter],
      ["Telegraf", telegrafAdapter(line) as unknown as Adapter],
      ["Variable", variableAdapter(line) as unknown as Adapter],
    ]);
  }

  of(category: Category): Adapter {
    const found = this.byCategory.get(category);
    if (found === undefined) throw new Error(`BUG: no adapter of ${category}`);
    return found;
  }

  /** Of a kind in a stack, which a client may have written. */
  find(kind: string): Adapter | undefined {
    return this.byCategory.get(kind);
  }
}
