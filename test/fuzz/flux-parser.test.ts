// Any text becomes a tree or a list of errors, never a crash: a short run with a fixed seed.
import { test } from "bun:test";
import { parserRounds } from "./flux-parser-rounds.ts";

const SEED = Number(process.env["SEED"] ?? 20_261_122);

test(`any text parses, seed ${SEED}`, () => parserRounds(SEED, Number(process.env["ROUNDS"] ?? 600)));
