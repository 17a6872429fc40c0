// The same as flux-parser.test.ts with more rounds and a new seed each time.
import { test } from "bun:test";
import { parserRounds } from "./flux-parser-rounds.ts";

const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);

test(`any text parses, seed ${SEED}`, () => parserRounds(SEED, Number(process.env["ROUNDS"] ?? 100_000)), 600_000);
