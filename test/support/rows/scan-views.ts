// A table's scan with one optimization disabled: answers must not change.
import type { ScanTable } from "../../../src/model/query/scan-table.ts";
import type { TagCombinations } from "../../../src/model/query/tag-combinations.ts";

export type ScanView = (scan: ScanTable) => ScanTable;

const rowsOf = (scan: ScanTable): ScanTable => ({
  ...{ name: scan.name, columns: scan.columns, rowCountMax: scan.rowCountMax },
  open: (request) => scan.open(request),
  ...(scan.times === undefined ? {} : { times: scan.times }),
});

/** Combinations whose results are computed in each statement. */
function unknownCombinations(scan: ScanTable): ScanTable["combinations"] {
  if (scan.combinations === undefined) return undefined;
  return function* (request) {
    const found = yield* scan.combinations!(request);
    return found === null ? null : (Object.create(found, { key: { value: null } }) as TagCombinations);
  };
}

export const SCAN_VIEWS: readonly (readonly [leftOut: string, view: ScanView])[] = [
  ["groups", (scan) => ({ ...rowsOf(scan), selectsExactly: scan.selectsExactly ?? false })],
  ["newest rows", (scan) => ({ ...rowsOf(scan), open: (request) => scan.open({ ...request, newestOnly: false }) })],
  [
    "conditions on tags",
    (scan) => ({
      ...rowsOf(scan),
      selectsExactly: scan.selectsExactly ?? false,
      ...(scan.aggregate === undefined ? {} : { aggregate: (request) => scan.aggregate!(request) }),
    }),
  ],
  [
    "known results of conditions and keys",
    (scan) => Object.create(scan, { combinations: { value: unknownCombinations(scan) } }) as ScanTable,
  ],
  ["exact choice", rowsOf],
  ["predicates", (scan) => ({ ...rowsOf(scan), open: (request) => scan.open({ ...request, tags: [], fields: [], newestOnly: false }) })],
];
