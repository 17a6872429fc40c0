// Texts of every length that is hashed in another way. The numbers are those of ClickHouse's function, as the Python package
// clickhouse-cityhash 1.0.2 computes them.
import { expect, test } from "bun:test";
import { cityHash64 } from "./city-hash.ts";

const TEXT =
  "The quick brown fox jumps over the lazy dog and runs away from the big bad wolf in the deep dark forest, again and again and again until dusk; then it stops.";

test.each([
  [0, 11160318154034397263n],
  [1, 5570910369516329963n],
  [3, 9456065179546978676n],
  [4, 7426151758103449081n],
  [8, 8261970815632334399n],
  [9, 15693689613497209625n],
  [16, 3887581654433788716n],
  [17, 17248679875317671279n],
  [24, 5574213167716506373n],
  [32, 14343997730508542907n],
  [33, 4305124436332828171n],
  [48, 13981723148820866673n],
  [64, 8476296878312235124n],
  [65, 15122422205051559736n],
  [127, 17894708062881983649n],
  [128, 2507698673262585897n],
  [129, 6294674197651280429n],
  [157, 8368874088900988098n],
])("%p bytes", (length, hash) => {
  expect(cityHash64(new TextEncoder().encode(TEXT.slice(0, length)))).toBe(hash);
});
