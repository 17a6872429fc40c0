// Timestamps with and without a zone beside each other. Their common type has the zone, and a time without one is a local time there.
import type { Typed } from "../../bind/kind.ts";
import { deferredTime } from "../../bind/plan-clock.ts";
import type { Scope } from "../../bind/scope.ts";
import { withMarkOf } from "../../bind/type-notes.ts";
import { someNode } from "../walk.ts";
import { asTime, timeConstant, timeOfClock, timeOfText } from "./time-value.ts";
import { fromClock, inZone, timesOf, withReach, zoneOf } from "./time-zone.ts";

const isTime = ({ kind }: Typed): boolean => kind === "time" || kind === "coarse";
const isConstant = (value: Typed): boolean => deferredTime(value) !== undefined || value.timeNs !== undefined;

/** A time without a zone as the instant of that local time in `zone`; others as they are. */
export function localIn(value: Typed, zone: string, scope: Scope): Typed {
  if (!isTime(value) || value.zone !== undefined) return value;
  const local = inZone(asTime(value), zone);
  const clock = zoneOf(local);
  if (clock === null) return local;
  const deferred = deferredTime(value);
  if (deferred !== undefined)
    return inZone(
      timeOfClock(deferred.clock, (nowNs) => clock.toUtc(deferred.at(nowNs))),
      zone,
    );
  // the clock's expression would hold it in a lambda, where DuckDB takes none
  if (someNode(value.node, (part) => part.class === "SUBQUERY")) return value;
  const times = withReach(timesOf(value, scope), 0n);
  return withMarkOf({ ...fromClock(local, times, null), times: () => times }, value);
}

/** The operands of a comparison. Beside a constant with a zone, what is no constant keeps its type: the constant loses its zone. */
export function comparable(values: readonly Typed[], scope: Scope): readonly Typed[] {
  const zoned = values.filter(({ zone }) => zone !== undefined);
  const zone = zoned[0]?.zone;
  if (zone === undefined || zoned.length === values.length) return values;
  const areConstants = zoned.every(isConstant);
  return values.map((value) => (areConstants && isTime(value) && !isConstant(value) ? value : localIn(value, zone, scope)));
}

/** Alternative values, of which one is the result. `choice`: whose zone the result has, if several have one. */
export function alternatives(values: readonly Typed[], scope: Scope, choice: "first" | "last" = "last"): readonly Typed[] {
  const isZoned = ({ zone }: Typed): boolean => zone !== undefined;
  const zone = (choice === "first" ? values.find(isZoned) : values.findLast(isZoned))?.zone;
  if (zone === undefined) return values;
  return values.map((value) => {
    if (value.text !== undefined) return inZone(timeConstant(timeOfText(value.text, zone)), zone);
    return value.zone === undefined ? localIn(value, zone, scope) : inZone(value, zone);
  });
}
