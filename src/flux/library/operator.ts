// Table operators as native functions: a node of the plan whose errors say where the call stands.
import type { ScriptRun } from "../interpret/script-run.ts";
import { placeText } from "../parse/check.ts";
import { StreamNode, type Tables, type TimeBounds } from "../tables/stream.ts";
import { FluxError } from "../values/flux-error.ts";
import type { NativeBody, NativeCall } from "./native-call.ts";

/** What an operator does with the tables of its input. */
export type TableBody = (input: Tables, run: ScriptRun) => Tables;

/** A native function that takes `tables` and gives what `prepare`'s function makes of them; `prepare` checks the arguments at once. */
export function operator(prepare: (call: NativeCall) => TableBody, input = "tables"): NativeBody {
  return (call) => {
    const body = prepare(call);
    return streamOf(call, [call.stream(input)], ([tables], run) => body(tables!, run));
  };
}

export interface StreamFacts {
  readonly resultName?: string | null;
  readonly bounds?: TimeBounds | null;
}

export function streamOf(
  call: NativeCall,
  inputs: readonly StreamNode[],
  body: (inputs: readonly Tables[], run: ScriptRun) => Tables,
  { resultName = null, bounds = inputs[0]?.bounds ?? null }: StreamFacts = {},
): StreamNode {
  const { site } = call;
  const located = site === null ? body : (given: readonly Tables[], run: ScriptRun) => withPlace(body, given, run, site);
  return new StreamNode(site?.name ?? "", inputs, site?.location ?? null, located, resultName, bounds);
}

function* withPlace(
  body: (inputs: readonly Tables[], run: ScriptRun) => Tables,
  inputs: readonly Tables[],
  run: ScriptRun,
  site: NonNullable<NativeCall["site"]>,
): Tables {
  try {
    yield* body(inputs.map(marked), run);
  } catch (error) {
    if (error instanceof InputError) throw error.error;
    // a bucket that is not there is no fault of the operator
    if (error instanceof FluxError && error.code === "not found") throw error;
    throw error instanceof FluxError ? error.within(`runtime error @${placeText(site.location)}: ${site.name}`) : error;
  }
}

/** An error of an operator's input has its place already. */
class InputError extends Error {
  constructor(readonly error: unknown) {
    super("an input failed");
  }
}

function* marked(input: Tables): Tables {
  try {
    yield* input;
  } catch (error) {
    throw error instanceof InputError ? error : new InputError(error);
  }
}
