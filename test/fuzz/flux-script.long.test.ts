// The same as flux-script.test.ts with more rounds; SEED=… and ROUNDS=… run others.
import { test } from "bun:test";
import { scriptRounds } from "./flux-script-rounds.ts";

const SEED = Number(process.env["SEED"] ?? 1);

test(`any script ends in an answer or an error, seed ${SEED}`, () => scriptRounds(SEED, Number(process.env["ROUNDS"] ?? 200_000)), 600_000);
