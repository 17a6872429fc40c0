// Lines that plugins build: their text by examples, and by random names and values that a parser reads back.
import { afterAll, describe, expect, test } from "bun:test";
import { parseReference } from "../../test/conformance/reference-parser.ts";
import { PluginBench, type PluginRun, pluginPython } from "../../test/support/plugins/plugins.ts";
import { pick, prng } from "../../test/support/prng.ts";
import { ColumnType } from "../model/rows/column.ts";
import { Precision } from "../model/time/precision.ts";

/** The body of a function that runs on a schedule. */
const scheduled = (body: string) => `def process_scheduled_call(local, when, args=None):\n${body.replace(/^/gm, "    ")}\n`;

if (pluginPython() !== null) {
  const bench = new PluginBench();
  afterAll(() => bench.close());
  let plugins = 0;
  const run = (source: string): Promise<PluginRun> =>
    bench.run(bench.plugin(`plugin_${plugins++}.py`, source), { kind: "schedule", timeMs: 0 });

  describe("LineBuilder", () => {
    const LINES: [expression: string, line: string][] = [
      [`LineBuilder("m").tag("b","1").tag("a","x y,z=w").int64_field("i",-5).time_ns(7)`, "m,b=1,a=x\\ y\\,z\\=w i=-5i 7"],
      [`LineBuilder("m,n").uint64_field("u", 2**64-1)`, "m\\,n u=18446744073709551615u"],
      [`LineBuilder("m").float64_field("f", 3).float64_field("g", 0.1).float64_field("h", 1e300)`, "m f=3.0,g=0.1,h=1e+300"],
      [`LineBuilder("m").string_field("s", 'a "b" \\\\c').bool_field("t", True).bool_field("f", False)`, 'm s="a \\"b\\" \\\\c",t=t,f=f'],
      [`LineBuilder("m").tag("n", 5).float64_field("f", 1.5)`, "m,n=5 f=1.5"],
      // a backslash in front of what is escaped would be read with it
      [
        `LineBuilder("m\\\\,n").tag("k\\\\l", "a\\\\,b=c\\\\\\\\ d").int64_field("f\\\\g", 1)`,
        "m\\\\\\,n,k\\\\l=a\\\\\\,b\\=c\\\\\\\\\\ d f\\\\g=1i",
      ],
      [`LineBuilder("m").int64_field("i", 1).time_ns(7).time_ns(None)`, "m i=1i"],
    ];
    test.each(LINES)("%s", async (expression, line) => {
      expect((await run(scheduled(`local.info(${expression}.build())`))).lines).toEqual([`INFO: ${line}`]);
    });

    const BAD: [expression: string, error: string][] = [
      [`LineBuilder("a b")`, "InvalidMeasurementError"],
      [`LineBuilder("")`, "InvalidMeasurementError"],
      [`LineBuilder("m").tag("", "v")`, "InvalidKeyError"],
      [`LineBuilder("m").tag("a b", "v")`, "InvalidKeyError"],
      [`LineBuilder("m").int64_field("a,b", 1)`, "InvalidKeyError"],
      [`LineBuilder("m").int64_field("a=b", 1)`, "InvalidKeyError"],
      [`LineBuilder("#m")`, "InvalidMeasurementError"],
      [`LineBuilder("m").tag("a", "x\\ny")`, "InvalidLineError"],
      [`LineBuilder("m").tag("a", "x\\tb=1 ")`, "InvalidLineError"],
      [`LineBuilder("m").tag("a", "C:\\\\")`, "InvalidLineError"],
      [`LineBuilder("m").build()`, "InvalidLineError"],
      [`local.write(LineBuilder("m"))`, "InvalidLineError"],
      [`LineBuilder("m").uint64_field("u", -1)`, "ValueError"],
      [`LineBuilder("m").int64_field("i", 2**63)`, "ValueError"],
      [`LineBuilder("m").float64_field("f", float("nan"))`, "ValueError"],
      [`LineBuilder("m").int64_field("i", 1.5)`, "TypeError"],
    ];
    test.each(BAD)("%s raises %s", async (expression, error) => {
      const source = `try:\n    ${expression}\nexcept Exception as error:\n    local.info(type(error).__name__, isinstance(error, InfluxDBError))`;
      expect((await run(scheduled(source))).lines).toEqual([`INFO: ${error} ${error.startsWith("Invalid") ? "True" : "False"}`]);
    });
  });

  const SEED = Number(process.env["SEED"] ?? 1);
  test(`names and values come back from the lines of LineBuilder, seed ${SEED}`, async () => {
    const below = prng(SEED);
    // each with what may be in it, and at times with what may not
    const word = (more: string) => {
      const letters = [...`ab\\\\\\"'ü😀${more}${below(8) === 0 ? " ,=#\t\n\r" : ""}`];
      return Array.from({ length: 1 + below(5) }, () => pick(below, letters)).join("");
    };
    const given = Array.from({ length: 500 }, () => ({
      ...{ table: word(",=\r"), tag: `t${word("")}`, value: word(" ,=#\r"), field: `f${word("#")}`, string: word(" ,=#\t\n\r") },
    }));
    const source = `import json
given = json.loads(${JSON.stringify(JSON.stringify(given))})
def line(one):
    try: return LineBuilder(one["table"]).tag(one["tag"], one["value"]).string_field(one["field"], one["string"]).time_ns(1).build()
    except InfluxDBError: return None
def process_scheduled_call(local, when, args=None):
    for one in given: local.info(json.dumps(line(one)))
`;
    const lines = (await run(source)).lines.map((line) => JSON.parse(line.slice("INFO: ".length)) as string | null);
    expect(lines.length).toBe(given.length);
    for (const [i, { table, tag, value, field, string }] of given.entries()) {
      const isKey = (key: string) => !/[ ,=\n\t]|\\$/.test(key);
      const isGood = !/[ \n\t]|^#|\\$/.test(table) && isKey(tag) && !/[\n\t]|\\$/.test(value) && isKey(field);
      const read =
        lines[i] === null
          ? null
          : parseReference(new TextEncoder().encode(lines[i]!), { precision: Precision.nanosecond, receiveTimeNs: 0n }).tables;
      const row = { lineOffset: 0, timeNs: 1n, tags: [[tag, value]], fields: [[field, ColumnType.string, string]] };
      expect({ i, read }).toEqual({ i, read: isGood ? [{ name: table, rows: [row] }] : null } as unknown as {
        i: number;
        read: typeof read;
      });
    }
    expect(lines.filter((line) => line !== null).length).toBeGreaterThan(30);
  });
}
