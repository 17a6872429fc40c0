// Functions of values that meet nulls.
import { isNull, type Null } from "../values/value.ts";
import type { LibraryPackage, NativeCall } from "./native-call.ts";

/** What a call of the function gives for an argument that is null. @throws FluxError */
export type NullAnswer = (name: string, argument: string, value: Null, call: NativeCall) => Null;

type Natives = LibraryPackage["natives"];

/** The bodies, with `answer` in their place where an argument is null. */
export function answeringNulls(natives: Natives, answer: NullAnswer): Natives {
  const wrapped = Object.entries(natives).map(([name, body]) => {
    if (typeof body !== "function") return [name, body];
    return [name, (call: NativeCall) => answered(call, name, answer) ?? body(call)];
  });
  return Object.fromEntries(wrapped) as Natives;
}

function answered(call: NativeCall, name: string, answer: NullAnswer): Null | null {
  for (const argument of call.names) {
    const value = call.optional(argument)!;
    if (isNull(value)) return answer(name, argument, value, call);
  }
  return null;
}
