// Names are resolved before a script runs: a variable is a slot of a frame so many frames up.
import type { Value } from "../values/value.ts";
import type { ScriptRun } from "./script-run.ts";

/** The variables of one call. */
export class Frame {
  constructor(
    readonly values: Value[],
    readonly parent: Frame | null,
    readonly run: ScriptRun,
  ) {}
}

/** Names of one function or block, and the slots that they are compiled to. */
export class CodeScope {
  private readonly slots = new Map<string, number>();

  constructor(readonly parent: CodeScope | null) {}

  declare(name: string): number {
    const slot = this.slots.size;
    // a name that is declared again hides the earlier one
    this.slots.set(this.slots.has(name) ? `${name} ${slot}` : name, slot);
    return slot;
  }

  /** Frames up and slot, or null. */
  find(name: string): { readonly up: number; readonly slot: number } | null {
    let up = 0;
    for (let scope: CodeScope | null = this; scope !== null; scope = scope.parent) {
      const slot = scope.slots.get(name);
      if (slot !== undefined) return { up, slot };
      up++;
    }
    return null;
  }

  names(): Iterable<readonly [string, number]> {
    return this.slots;
  }
}
