// What operands and members have to be, and what is wrong otherwise: functions of rows and items, which the reference compiles, word it
// differently from other code, and take nulls.
import { FluxError } from "../values/flux-error.ts";
import { Dynamic, FluxRecord, isNull, kindOf, Null, type Value } from "../values/value.ts";
import type { Code } from "./closure.ts";
import type { Frame } from "./scope.ts";

/** A member expression: its code, and that of the record that has the member. */
export interface MemberCode {
  readonly code: Code;
  readonly holder: Code;
  readonly label: string;
}

function kindName(value: Value | null): string {
  return value === null ? "invalid" : kindOf(value);
}

/** What is wrong with a value that has no members. @param from the member that it is, when it is one */
export function memberError(value: Value | null, label: string, from: MemberCode | null, frame: Frame): FluxError {
  if (!frame.run.isInItems) return new FluxError(`cannot access property "${label}" on value of type ${kindName(value)}`);
  if (value !== null && !isNull(value)) {
    return new FluxError(`cannot access property of a value with type ${kindOf(value)}; expected record`);
  }
  // what is not there is told apart from what is null
  const holder = from?.holder(frame);
  if (holder instanceof FluxRecord && holder.get(from!.label) === undefined) {
    return new FluxError(`member ${JSON.stringify(from!.label)} with type object is not in the record`);
  }
  return new FluxError("cannot access property of a null value; expected record");
}

/** A member that is not there is a null, and a null has no members. @throws FluxError */
export function dynamicMember({ value }: Dynamic, label: string, frame: Frame): Dynamic {
  if (!(value instanceof FluxRecord)) throw memberError(value, label, null, frame);
  const member = value.get(label);
  return member instanceof Dynamic ? member : new Dynamic(member ?? null);
}

/** Of what is no boolean: a null passes in functions of items. @param use names the value there @throws FluxError */
export function checkBoolean(value: Value, problem: string, use: (kind: string) => string, { run }: Frame): void {
  if (!run.isInItems) throw new FluxError(problem);
  if (!isNull(value)) throw new FluxError(`cannot use ${use(kindOf(value))}; expected boolean`);
}

/** The type of a value in such errors; a null without one is `null`. */
export function givenKind(value: Value): string {
  return value instanceof Null && value.type === "invalid" ? "null" : kindOf(value);
}

/** Of `{source with …}`: inference leaves open what `source` is. @throws FluxError if it is no record */
export function recordOf(source: Value): FluxRecord {
  if (source instanceof FluxRecord) return source;
  if (isNull(source)) throw new FluxError('null value on left hand side of "with" in record literal');
  throw new FluxError(`value on left hand side of "with" in record literal has type ${kindOf(source)}; expected record`);
}
