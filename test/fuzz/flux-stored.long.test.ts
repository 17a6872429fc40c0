// The same as flux-stored.test.ts with more rounds; SEED=… and ROUNDS=… run others.
import { expect, test } from "bun:test";
import { Kernel } from "../../src/kernel/memory/kernel.ts";
import { storedRounds } from "./flux-stored-rounds.ts";

const SEED = Number(process.env["SEED"] ?? 1);
/** Sets of points. */
const ROUNDS = Math.ceil(Number(process.env["ROUNDS"] ?? 10) / (process.env["ROUNDS"] === undefined ? 1 : 20));

test(`scripts over stored rows answer as over rows in memory, seed ${SEED}`, async () => {
  expect(await storedRounds(Kernel.create(), SEED, ROUNDS, 20)).toBeGreaterThan(ROUNDS);
}, 3_600_000);
