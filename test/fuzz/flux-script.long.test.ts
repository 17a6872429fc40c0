// The same as flux-script.test.ts with more rounds and a new seed each time.
import { test } from "bun:test";
import { scriptRounds } from "./flux-script-rounds.ts";

const SEED = Number(process.env["SEED"] ?? Date.now() % 1_000_000);

test(`any script ends in an answer or an error, seed ${SEED}`, () => scriptRounds(SEED, Number(process.env["ROUNDS"] ?? 200_000)), 600_000);
