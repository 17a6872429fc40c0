// Measures bodies of 10 lines per second on 64 connections, compared with InfluxDB 1. The cost per request and sync dominates, not that per
// line.
import { compare } from "./ingest.ts";
import type { Bench } from "./support/bench.ts";
import { DISCARD } from "./support/discard.ts";
import { INFLUX } from "./support/influx.ts";
import { OURS } from "./support/ours.ts";
import { VICTORIA } from "./support/victoria.ts";

const CONNECTIONS = 64;
const BODY_LINES = 10;

export const ingestSmall: Bench = {
  name: "ingest-small",
  run(size, say, { rows = size === "real" ? 200_000 : 10_000, peers = true } = {}) {
    const dataSet = {
      name: `bodies of ${BODY_LINES} lines, ${CONNECTIONS} connections`,
      options: { hosts: 100, rows, seed: 1, bodyLines: BODY_LINES },
    };
    const contestants = peers ? [OURS, DISCARD, VICTORIA, INFLUX] : [OURS, DISCARD];
    return compare(dataSet, { size, contestants, connections: CONNECTIONS, goals: new Map([[INFLUX, { atLeast: 3 }]]) }, say);
  },
};
