// Any script gives an answer or an error of the language: a short run with a fixed seed.
import { test } from "bun:test";
import { scriptRounds } from "./flux-script-rounds.ts";

const SEED = Number(process.env["SEED"] ?? 20_261_122);

test(`any script ends in an answer or an error, seed ${SEED}`, () => scriptRounds(SEED, Number(process.env["ROUNDS"] ?? 2000)), 60_000);
