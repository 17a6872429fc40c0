// Exported files as pyarrow reads them, when this machine's Python has it: another reader of Parquet than those of src/query.
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { store } from "../e2e/client.ts";
import { pythonWith } from "../support/plugins/python.ts";
import { TestServer } from "../support/servers/server.ts";

const ROWS = 50_000;
const SCRIPT = join(import.meta.dir, "exported_files.py");

test("pyarrow reads an exported file", async () => {
  const python = pythonWith("pyarrow.parquet");
  if (python === null) {
    console.log("python3 has no pyarrow.parquet here: it was not tried");
    return;
  }
  await using server = await TestServer.start({ flags: ["--use-pacha-tree"] });
  const line = (i: number) =>
    `m,host=h${i % 3} n=${i}i,f=${i / 4},u=${i}u${i === 1 ? ',s="é"' : ""}${i % 2 === 0 ? ",b=true" : ""} ${1000 + i}`;
  await store(server, "d", Array.from({ length: ROWS }, (_, i) => line(i)).join("\n"));
  const folder = mkdtempSync(join(tmpdir(), "tsdb-pyarrow-"));
  try {
    const archive = await fetch(`${server.url}/api/v3/export/window_data?db=d&table=m`);
    expect(Bun.spawnSync(["tar", "-xf", "-", "-C", folder], { stdin: await archive.bytes() }).exitCode).toBe(0);
    const { exitCode, stdout, stderr } = Bun.spawnSync([python, SCRIPT, join(folder, "1970-01-01.parquet")]);
    expect([exitCode, stderr.toString()]).toEqual([0, ""]);
    const { version, first, ...found } = JSON.parse(stdout.toString());
    console.log(`pyarrow ${version}`);
    expect(found).toEqual({
      types: {
        ...{ b: "bool", f: "double", host: "dictionary<values=string, indices=int32, ordered=0>", n: "int64", s: "string" },
        ...{ time: "timestamp[ns]", u: "uint64" },
      },
      nullable: ["b", "f", "host", "n", "s", "u"],
      kinds: {
        b: "iox::column_type::field::boolean",
        f: "iox::column_type::field::float",
        host: "iox::column_type::tag",
        n: "iox::column_type::field::integer",
        s: "iox::column_type::field::string",
        time: "iox::column_type::timestamp",
        u: "iox::column_type::field::uinteger",
      },
      groups: 1,
      rowCount: ROWS,
      nulls: { b: ROWS / 2, f: 0, host: 0, n: 0, s: ROWS - 1, time: 0, u: 0 },
      bounds: {
        b: ["True", "True"],
        f: ["-0.0", String((ROWS - 1) / 4)],
        host: ["h0", "h2"],
        n: ["0", String(ROWS - 1)],
        s: ["é", "é"],
        u: ["0", String(ROWS - 1)],
      },
      sums: { n: (ROWS * (ROWS - 1)) / 2, f: (ROWS * (ROWS - 1)) / 8 },
      hosts: ["h0", "h1", "h2"],
      filtered: 10,
    });
    const byTime = (first as { time: number }[]).toSorted((a, b) => a.time - b.time);
    expect(byTime[0]).toEqual({ b: true, f: 0, host: "h0", n: 0, s: null, time: 1000, u: 0 } as never);
  } finally {
    rmSync(folder, { recursive: true });
  }
}, 60_000);
