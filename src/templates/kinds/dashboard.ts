// Dashboards and configurations of agents in templates.
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

/** What is wrong is collected in the reader. */
export function readDashboard(spec: SpecReader): DashboardSpec {
  const prefix = `dashboards[${spec.metaName}].spec.charts`;
  return { category: "Dashboard", charts: spec.list("charts").flatMap((chart, i) => readChart(chart, `${prefix}[${i}]`)) };
}

/** What is wrong is collected in the reader. */
export function readTelegraf(spec: SpecReader): TelegrafSpec {
  const config = spec.text("config");
  if (config === "") spec.issue("config", "is required");
  return { category: "Telegraf", config };
}
