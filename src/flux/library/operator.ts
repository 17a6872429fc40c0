// Table operators as native functions: a node of the plan whose errors say where the call stands.
import { AnswerPending } from "../interpret/outside.ts";
import type { ScriptRun } from "../interpret/script-run.ts";
import { placeText } from "../parse/check.ts";
import { inKeyOrder } from "../tables/key-order.ts";
import { boundsOf, collect, type Flow, StreamNode, type Tables, type TimeBounds } from "../tables/stream.ts";
import type { FluxTable } from "../tables/table.ts";
import { DecodeError, FluxError, PiecesError, SourceError, UnplacedError } from "../values/flux-error.ts";
import type { NativeBody, NativeCall } from "./native-call.ts";
import { SortOperation } from "./plan/operations.ts";
import { eachOnce, endsTables, REDUCED, subjectOfRepeats } from "./repeated-keys.ts";

/** What an operator does with the tables of its input. */
export type TableBody = (input: Tables, run: ScriptRun) => Tables;

/** A native function that takes `tables` and gives what `prepare`'s function makes of them; `prepare` checks the arguments at once. */
export function operator(
  prepare: (call: NativeCall) => TableBody,
  input = "tables",
  facts: OperatorFacts | ((call: NativeCall) => OperatorFacts) = {},
): NativeBody {
  return (call) => {
    const body = prepare(call);
    const own = typeof facts === "function" ? facts(call) : facts;
    return streamOf(call, [call.stream(input)], ([tables], run) => body(tables!, run), own);
  };
}

type OperatorFacts = Pick<StreamFacts, "operation" | "flow" | "sortsTables" | "passesTables">;

export interface StreamFacts {
  readonly resultName?: string | null;
  readonly bounds?: TimeBounds | null;
  readonly effect?: string;
  readonly isInner?: boolean;
  readonly operation?: object;
  readonly flow?: Flow;
  readonly sortsTables?: boolean;
  /** Whether tables pass one by one, those of equal keys too. */
  readonly passesTables?: boolean;
  /** Whether tables leave before later ones are read. */
  readonly handsOn?: boolean;
  /** Whether the reference's storage computes this: it is a source then, without tables of what it cannot compute. */
  readonly inStorage?: () => boolean;
  /** Whether its tables stay in the order in which the storage has them. */
  readonly inStoredOrder?: () => boolean;
  /** What stands before errors of its source; null: its place. Asked when the error comes. */
  readonly sourceContext?: () => string | null;
}

type StreamBody = (inputs: readonly Tables[], run: ScriptRun) => Tables;

/** Which errors have another place, or none. Asked when the error comes. */
interface PlaceRules {
  /** Whether errors at the end of the stream have the place, too. */
  readonly failsAtEnd?: () => boolean;
  readonly inStorage?: (() => boolean) | undefined;
  readonly sourceContext?: (() => string | null) | undefined;
  /** A result leaves what is wrong with its source to clients. */
  readonly isResult?: () => boolean;
}

/** Of those that take whole tables: those that give the rows of each piece in a piece. */
const KEEPING_PIECES: ReadonlySet<string> = new Set(["drop", "duplicate", "fill", "keep", "rename"]);

/** A body whose errors say where the call stands, unless they come at the end of the stream. @param handsOn tables leave as they come */
export function located({ site }: NativeCall, body: StreamBody, handsOn: boolean, rules: PlaceRules = {}): StreamBody {
  return site === null ? body : (inputs, run) => withPlace(body, inputs, run, { site, handsOn, ...rules });
}

/** The node of a call that returns tables, computed from those of `inputs`. */
export function streamOf(
  call: NativeCall,
  inputs: readonly StreamNode[],
  body: StreamBody,
  {
    resultName = null,
    bounds = boundsOf(inputs),
    effect,
    isInner,
    operation,
    flow = "tables",
    sortsTables = false,
    passesTables = flow === "rows" || operation instanceof SortOperation,
    handsOn = passesTables,
    inStorage,
    inStoredOrder = inStorage,
    sourceContext,
  }: StreamFacts = {},
): StreamNode {
  const { site } = call;
  const checked = inputs.some((input) => input.repeatsKeys) ? withoutRepeats(call, body) : body;
  const inOrder: StreamBody = endsTables(call)
    ? (streams, run) =>
        node.isOrderShown && inStoredOrder?.() !== true ? collect(checked(streams, run), inKeyOrder) : checked(streams, run)
    : checked;
  const placed = located(call, inOrder, flow !== "tables" || operation instanceof SortOperation, {
    failsAtEnd: () => flow === "tables" && inputs.some((input) => input.leavesOpen),
    inStorage,
    sourceContext,
    // what is read on is no result alone
    isResult: () => resultName !== null && node.readers === 0,
  });
  const node: StreamNode = new StreamNode(
    site?.name ?? "",
    inputs,
    site?.location ?? null,
    placed,
    resultName,
    bounds,
    effect,
    isInner,
    operation,
  );
  node.flow = flow;
  node.keepsPieces = flow !== "tables" || KEEPING_PIECES.has(call.native);
  node.passesTables = passesTables;
  node.handsOn = handsOn;
  node.sortsTables = sortsTables;
  return node;
}

/** A body that takes one table of each key, if the function is one of those that refuse a second one: nothing is read on before. */
function withoutRepeats(call: NativeCall, body: StreamBody): StreamBody {
  const subject = subjectOfRepeats(call);
  if (subject === null) return body;
  return (inputs, run) =>
    collect(body(subject === REDUCED ? inputs : inputs.map((tables) => eachOnce(tables, subject)), run), (made) => made);
}

interface ErrorPlace extends PlaceRules {
  readonly site: NonNullable<NativeCall["site"]>;
  readonly handsOn: boolean;
}

function* withPlace(body: StreamBody, inputs: readonly Tables[], run: ScriptRun, place: ErrorPlace): Tables {
  const { site, handsOn, failsAtEnd, inStorage, sourceContext, isResult } = place;
  const isSource = inStorage?.() === true;
  try {
    const made = body(inputs.map(marked), run);
    yield* isSource ? exceptFailed(made) : made;
  } catch (error) {
    if (error instanceof PiecesError) throw error.placedBy(`runtime error @${placeText(site.location)}: ${site.name}`);
    if (error instanceof SourceError) throw error;
    if (error instanceof InputError && error.error instanceof DecodeError) {
      throw handsOn ? error.error : new UnplacedError(error.error.message);
    }
    if (error instanceof InputError && error.error instanceof SourceError) {
      const { message, code } = error.error;
      if (isResult?.() === true) throw error.error;
      if (isSource) throw new SourceError(message, code);
      const context = sourceContext?.() ?? null;
      if (context !== null) throw new UnplacedError(`${context}${message}`, code);
      throw new FluxError(`runtime error @${placeText(site.location)}: ${site.name}: ${message}`, code);
    }
    if (error instanceof InputError) throw error.error;
    // a bucket that is not there is no fault of the operator
    if (error instanceof FluxError && error.code === "not found") throw error;
    throw error instanceof FluxError && failsAtEnd?.() !== true
      ? error.within(`runtime error @${placeText(site.location)}: ${site.name}`)
      : error;
  }
}

/** Without the table of the group whose rows were cut off by an error. */
function* exceptFailed(tables: Tables): Tables {
  let last: FluxTable | null = null;
  try {
    for (const table of tables) {
      if (table !== null && last !== null) yield last;
      if (table === null) yield null;
      else last = table;
    }
  } catch (error) {
    if (!(error instanceof InputError) && last !== null) yield last;
    throw error;
  }
  if (last !== null) yield last;
}

/** What an operator reads in place of its input: errors keep their own places. */
export function* asInput<T>(reading: Generator<null, T, void>): Generator<null, T, void> {
  try {
    return yield* reading;
  } catch (error) {
    throw inputError(error);
  }
}

/** What is answered later is no error: it goes to who waits for it as it is. */
function inputError(error: unknown): unknown {
  return error instanceof InputError || error instanceof AnswerPending ? error : new InputError(error);
}

/** An error of an operator's input has its place already. */
class InputError extends Error {
  constructor(readonly error: unknown) {
    super("an input failed");
  }
}

/** The error of an operator's input; null: it is another one. */
export function inputErrorOf(error: unknown): unknown {
  return error instanceof InputError ? error.error : null;
}

/** The tables of an operator's input: errors keep their own places. */
export function* marked(input: Tables): Tables {
  try {
    yield* input;
  } catch (error) {
    throw inputError(error);
  }
}
