// Labels of the keys of series, as the storage's index lists them.
import { compareTexts } from "../../../model/rows/text-order.ts";
import type { ScriptRun } from "../../interpret/script-run.ts";
import type { StreamNode, Tables } from "../../tables/stream.ts";
import { type FluxTable, GroupKey, TableBuilder } from "../../tables/table.ts";
import { asInput } from "../operator.ts";
import { isPlainPushed, PushedNode } from "../universe/pushed.ts";
import { KeepOperation, KeysOperation } from "./operations.ts";

/** Labels that come before the others. */
export const BOUNDS: readonly string[] = ["_start", "_stop"];

/** What `keys`, `keep` of their values and `distinct` read of an index: the rows of the storage, or null. To be asked when streams are
 *  opened. */
export function listedRows(source: StreamNode): StreamNode | null {
  const [keys] = source.inputs;
  const isOfValues = source.operation instanceof KeepOperation && source.operation.isOf("_value");
  if (!isOfValues || source.readers > 1 || keys!.readers > 1) return null;
  const isOfKeys = keys!.operation instanceof KeysOperation && keys!.operation.column === "_value";
  return isOfKeys && isPlainPushed(keys!.inputs[0]) ? keys!.inputs[0]! : null;
}

/** The labels among the values of `tables` as a list, even if there are none. @param rows of the storage that they come from */
export function* labelList(tables: Tables, rows: StreamNode, run: ScriptRun): Tables {
  const found = yield* textsOf(tables);
  yield* withCommonLabels([ordered(found, BOUNDS)], rows, run);
}

/** The texts among the values of `tables`, without empty ones. */
export function* textsOf(tables: Tables): Generator<null, ReadonlySet<string>> {
  const found = new Set<string>();
  for (const table of tables) {
    yield null;
    const values = table?.column("_value");
    for (let row = 0; row < (values?.length ?? 0); row++) {
      const value = values!.get(row);
      if (typeof value === "string" && value !== "") found.add(value);
    }
  }
  return found;
}

function listed(values: readonly string[]): FluxTable {
  const builder = new TableBuilder(GroupKey.NONE);
  const column = builder.column("_value", "string");
  for (const value of values) column.append(value);
  builder.rowCount = values.length;
  return builder.build();
}

/** Each once, in order behind those that come first, as a table. */
export function ordered(found: ReadonlySet<string>, first: readonly string[] = []): FluxTable {
  return listed([...first, ...[...found].filter((text) => !first.includes(text)).sort(compareTexts)]);
}

/** As recorded: where no series matches, the labels that all have are listed, unless there is none at all. */
export function* withCommonLabels(lists: Tables, input: StreamNode, run: ScriptRun): Tables {
  for (const list of lists) {
    const isEmpty = list !== null && list.rowCount === BOUNDS.length;
    yield isEmpty && (yield* hasRows(rangeOf(input), run)) ? listed([...BOUNDS, "_field", "_measurement"]) : list;
  }
}

/** The range behind filters. */
function rangeOf(node: StreamNode): StreamNode {
  const [input] = node.inputs;
  return input instanceof PushedNode && input.read !== null ? rangeOf(input) : node;
}

function* hasRows(range: StreamNode, run: ScriptRun): Generator<null, boolean, void> {
  const describe = range instanceof PushedNode && run.pushesDown ? range.describe : null;
  const answer = describe === null ? null : yield* asInput(describe(run, { kind: "count" }, []));
  if (answer !== null) return answer.count > 0;
  for (const table of range.open(run)) {
    if (table !== null) return true;
    yield null;
  }
  return false;
}
