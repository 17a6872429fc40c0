// `npm run bench [-- --smoke] [--rows N] [--only TEXT] [--state S] [--no-peers] [name …]`: runs the benchmarks one after another and prints
// one table. Exits with 1 if a checked answer was wrong.
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { BENCHES } from "./benches.ts";
import { type Answer, formatTable } from "./support/bench.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: {
    ...{ smoke: { type: "boolean" }, rows: { type: "string" }, only: { type: "string" }, state: { type: "string" } },
    peers: { type: "boolean", default: true },
  },
  allowPositionals: true,
  allowNegative: true,
});
const options = {
  rows: values.rows === undefined ? undefined : Number(values.rows),
  only: values.only,
  state: values.state,
  peers: values.peers,
};
if (options.state !== undefined && !["flushed", "compacted"].includes(options.state)) {
  console.error(`--state must be flushed or compacted, got ${options.state}`);
  process.exit(2);
}
if (options.rows !== undefined && !(Number.isSafeInteger(options.rows) && options.rows > 0)) {
  console.error(`--rows must be a positive integer, got ${values.rows}`);
  process.exit(2);
}
const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(`no bench is named ${unknown.join(", ")}; there are ${BENCHES.map((bench) => bench.name).join(", ")}`);
  process.exit(2);
}

// servers are ended on exit, which a signal skips by default
for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const)
  process.on(signal, () => process.exit(code));

const answers: Answer[] = [];
const failures: string[] = [];
for (const bench of BENCHES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
  console.log(`\n${bench.name}`);
  try {
    answers.push(...(await bench.run(values.smoke ? "smoke" : "real", (line) => console.log(`  ${line}`), options)));
  } catch (error) {
    failures.push(`${bench.name}: ${error instanceof Error ? error.message : String(error)}`);
    console.log(`  failed: ${failures.at(-1)}`);
  }
}

console.log(
  `\n${cpus()[0]?.model ?? "unknown processor"}, ${cpus().length} cores, ${process.platform}-${process.arch}, Bun ${Bun.version}\n`,
);
if (answers.length > 0) console.log(formatTable(answers));
for (const failure of failures) console.error(`\nfailed: ${failure}`);
process.exit(failures.length > 0 ? 1 : 0);
