// How much a script may make of its types. A type may hold another one many times over, so a few lines can have one of 2^60 nodes.
import { FluxError } from "../values/flux-error.ts";

/** Visits to nodes of types that any script may make: less than a tenth of a second, */
const VISITS_MIN = 1_000_000;
/** and those that each character adds: long scripts are mostly data. */
const CHARACTER_VISITS = 2;

/** Limits the type nodes that inference visits. */
export class TypeWork {
  private visits = 0;
  private readonly visitsMax: number;

  /** @param textLength of the script */
  constructor(textLength: number) {
    this.visitsMax = VISITS_MIN + textLength * CHARACTER_VISITS;
  }

  /** One node is visited. @throws FluxError: the types are too large */
  visit(): void {
    if (++this.visits > this.visitsMax) throw new FluxError("the types of the script are too large");
  }
}
