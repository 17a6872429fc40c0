// The data sets of the server benchmarks: TSBS cpu, few and many series, integers and decimals.
import type { TsbsCpuOptions } from "../data/tsbs-cpu.ts";
import type { Size } from "./bench.ts";

export interface DataSet {
  readonly name: string;
  readonly options: TsbsCpuOptions;
}

export const FIELDS_PER_ROW = 10;

const dataSet = (hosts: number, floats: boolean, rows: number): DataSet => ({
  name: `${hosts.toLocaleString("en")} hosts, ${floats ? "floats" : "integers"}`,
  options: { hosts, rows, floats, seed: 1 },
});

/** The first is used by benchmarks with a single set. */
export function dataSets(size: Size): DataSet[] {
  if (size === "smoke") return [dataSet(100, false, 20_000)];
  const rows = 1_000_000;
  return [dataSet(100, false, rows), dataSet(100, true, rows), dataSet(10_000, false, rows), dataSet(10_000, true, rows)];
}
