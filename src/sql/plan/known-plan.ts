// The physical plan of a text that was run before.
import type { PhysicalPlan, PlanOptions } from "./physical-plan.ts";

/** The last repeatable plan of one text. */
export class KnownPlan {
  private physical: PhysicalPlan | null = null;

  /** The plan for this moment, if planning with these options would return an equal one; otherwise null. */
  find(options: PlanOptions): PhysicalPlan | null {
    return this.physical?.fits(options) === true ? this.physical.at(options.nowNs) : null;
  }

  keep(physical: PhysicalPlan): void {
    if (physical.isRepeatable) this.physical = physical;
  }
}
