// Measures durable ingest through the v2 line, with tokens and permissions, compared with the native endpoint without any.
import { compare } from "./ingest.ts";
import type { Answer, Bench } from "./support/bench.ts";
import { dataSets } from "./support/data-sets.ts";
import { CONNECTIONS } from "./support/loader.ts";
import { OURS } from "./support/ours.ts";
import { OURS_V2 } from "./support/ours-v2.ts";

const GOALS = new Map([[OURS, { atLeast: 0.9 }]]);

export const v2Ingest: Bench = {
  name: "v2-ingest",
  async run(size, say, { only = "", rows = size === "real" ? 200_000 : 2_000 } = {}) {
    const [plain] = dataSets(size);
    const small = { name: "bodies of 10 lines, 64 connections", options: { hosts: 100, rows, seed: 1, bodyLines: 10 } };
    const runs = [
      { dataSet: plain!, connections: CONNECTIONS },
      { dataSet: small, connections: 64 },
    ];
    const answers: Answer[] = [];
    for (const { dataSet, connections } of runs.filter((run) => run.dataSet.name.includes(only))) {
      answers.push(...(await compare(dataSet, { size, contestants: [OURS_V2, OURS], connections, goals: GOALS }, say)));
    }
    return answers;
  },
};
