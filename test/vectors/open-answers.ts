// Recorded requests that ours answers otherwise: by intent, and those that are not done.

export type Difference = readonly [id: string, reason: string];

/** By intent; at most 40. */
export const DIFFERENT: readonly Difference[] = [["iql-explain-003", "EXPLAIN of the v1 language has the one column that 1.x has"]];

/** To be done, by prefix: what is no longer different leaves the list. */
const OPEN_NUMBERS: readonly (readonly [prefix: string, ...numbers: string[]])[] = [
  ["lit", "053"],
  ["typeof", "046 047 058 071 088 113"],
  ["cast", "050 116 129 170 171 183 185 186 196 198 200 207 211 265 266 267 269 270 271 272 273 275 276 277 278 283 305 313 327",
    "328 331 361 362"],
  ["op", "166 205"],
  ["math", "235 281 298 334 362 363"],
  ["cond", "009 022 024 080"],
  ["str", "003 005 310 333 340"],
  ["re", "039 041 042 096 099 100 101 102 121"],
  ["time", "081 143 162 163 181 221 235 268 285 286 324"],
  ["gap", "016 022 026"],
  ["agg", "377 386 388 396 414"],
  ["sel", "024 051 105"],
  ["win", "021 069 070 071 134 146"],
  ["arr", "024 115 116 128 129 147"],
  ["struct", "050"],
  ["join", "036 039 042"],
  ["set", "007 008 009 013 019"],
  ["grp", "046"],
  ["ord", "010"],
  ["unnest", "008"],
  ["name", "019 022 066"],
  ["noalias", "063 064 065 080"],
  ["meta", "005 007 008 016 031"],
  ["explain", "005 006"],
  ["param", "008 014 018 035 044 046"],
  ["err", "068 088 185 207 259 274 293 300"],
  ["fmt-jsonl", "005 023"],
  ["fmt-json", "001 004"],
  ["alias", "042"],
  ["iql-agg", "059 069 110 124"],
  ["iql-trans", "017"],
]; // biome-ignore format: a prefix a line

export const OPEN: readonly string[] = OPEN_NUMBERS.flatMap(([prefix, ...lines]) =>
  lines.flatMap((numbers) => numbers.split(" ").map((number) => `${prefix}-${number}`)),
);
