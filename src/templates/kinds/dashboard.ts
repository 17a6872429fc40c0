// Dashboards and Telegraf configurations in templates.
import { type Chart, readChart } from "../charts/chart-reader.ts";
import type { SpecReader } from "../spec-reader.ts";

export interface DashboardSpec {
  readonly category: "Dashboard";
  readonly charts: readonly Chart[];
}

export interface TelegrafSpec {
  readonly category: "Telegraf";
  readonly config: string;
}

/** A dashboard is read in one step, so its size is limited. */
const CHARTS_MAX = 1000;

/** Errors are collected in the reader. */
export function readDashboard(spec: SpecReader): DashboardSpec {
  const charts = spec.list("charts");
  if (charts.length > CHARTS_MAX) {
    spec.issue("charts", `has ${charts.length} items, and may have ${CHARTS_MAX}`);
    return { category: "Dashboard", charts: [] };
  }
  const prefix = `dashboards[${spec.metaName}].spec.charts`;
  return { category: "Dashboard", charts: charts.flatMap((chart, i) => readChart(chart, `${prefix}[${i}]`)) };
}

/** Errors are collected in the reader. */
export function readTelegraf(spec: SpecReader): TelegrafSpec {
  const config = spec.text("config");
  if (config === "") spec.issue("config", "no config provided");
  return { category: "Telegraf", config };
}
