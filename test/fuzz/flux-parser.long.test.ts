// The same as flux-parser.test.ts with more rounds; SEED=… and ROUNDS=… run others.
import { test } from "bun:test";
import { parserRounds } from "./flux-parser-rounds.ts";

const SEED = Number(process.env["SEED"] ?? 1);

test(`any text parses, seed ${SEED}`, () => parserRounds(SEED, Number(process.env["ROUNDS"] ?? 30_000)), 600_000);
