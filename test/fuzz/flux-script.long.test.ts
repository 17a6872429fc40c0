// The same as flux-script.test.ts with more rounds; SEED=… and ROUNDS=… run others.
import { test } from "bun:test";
import { callRounds, scriptRounds, treeRounds } from "./flux-script-rounds.ts";

const SEED = Number(process.env["SEED"] ?? 1);
const ROUNDS = Number(process.env["ROUNDS"] ?? 4000);
const TIMEOUT_MS = 3_600_000;

test(`any script ends in an answer or an error, seed ${SEED}`, () => scriptRounds(SEED, ROUNDS), TIMEOUT_MS);
test(`so does any call of the library, seed ${SEED}`, () => callRounds(SEED, ROUNDS), TIMEOUT_MS);
test(`so does any tree, seed ${SEED}`, () => treeRounds(SEED, ROUNDS), TIMEOUT_MS);
