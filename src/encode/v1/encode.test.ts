// JSON and CSV of the v1 API byte for byte. What is wanted here was answered by InfluxDB 1.6.7 (Debian) for the same data; only the type of
// CSV and answers that break half way are this server's own.
import { beforeAll, describe, expect, test } from "bun:test";
import { prng } from "../../../test/support/prng.ts";
import type { Plain } from "../../../test/support/rows/result-batch.ts";
import {
  BOOLEAN,
  CODE,
  FLOAT,
  fieldsOf,
  INTEGER,
  ONLY,
  piece,
  S,
  series,
  TEXT,
  TIME,
  UNSIGNED,
  V,
} from "../../../test/support/sql/v1-pieces.ts";
import { Kernel } from "../../kernel/memory/kernel.ts";
import { KernelRowText } from "../../kernel/text/row-text.ts";
import type { ResultType } from "../../model/query/result-batch.ts";
import type { SeriesPiece } from "../../model/query/series-piece.ts";
import type { V1Answer } from "../../model/query/v1-answer.ts";
import { pieceBytes } from "../encoder.ts";
import { createV1Encoder, v1Broken, v1Bytes, v1Failure, v1Refusal } from "./encode.ts";

let kernel: KernelRowText;
beforeAll(() => {
  kernel = new KernelRowText(Kernel.create());
});

/** By the kernel and without it; long answers repeat the rows, because few are not worth the kernel's while. */
function both(answer: V1Answer, pieces: readonly SeriesPiece[]): string {
  const written = [undefined, kernel].map((maker) => {
    const encoder = createV1Encoder(answer, maker);
    const parts = [...pieces.map(pieceBytes(encoder)), encoder.end()];
    return Buffer.concat(parts.filter((part) => part !== null)).toString("latin1");
  });
  expect(written[1]).toBe(written[0]!);
  return Buffer.from(written[0]!, "latin1").toString();
}

const ALL = fieldsOf({ time: TIME, b: BOOLEAN, host: CODE, s: TEXT, v: FLOAT, w: INTEGER });
const ALL_ROWS: Plain[][] = [
  [-S, null, null, null, 1e300, null],
  [S, true, "a", 'a<b>&"q" \u2028 \u0001 tab\there\b\f\v\r', 1, 1n],
  [1_500_000_000n, null, "a", "", 1e21, 2n],
  [2_000_000_001n, false, "b", "\n", 1e-7, -3n],
  [3n * S, null, "b", " lead", 0.1, null],
  [4n * S, null, "x<&>", "\\.", -0, null],
  [5n * S, null, "a,b", "\u00a0nb", 123456789012345680000, 9223372036854775807n],
  [6n * S, null, null, "\u3000x", 1e20, -9223372036854775808n],
  [7n * S, null, null, 'a"b', 0.000001, null],
  [8n * S, null, null, "a,b\\", Number.NaN, null],
];
const ALL_JSON =
  '{"results":[{"statement_id":0,"series":[{"name":"m","columns":["time","b","host","s","v","w"],"values":[' +
  '["1969-12-31T23:59:59Z",null,null,null,1e+300,null],' +
  '["1970-01-01T00:00:01Z",true,"a","a\\u003cb\\u003e\\u0026\\"q\\" \\u2028 \\u0001 tab\\there\\u0008\\u000c\\u000b\\r",1,1],' +
  '["1970-01-01T00:00:01.5Z",null,"a","",1e+21,2],' +
  '["1970-01-01T00:00:02.000000001Z",false,"b","\\n",1e-7,-3],' +
  '["1970-01-01T00:00:03Z",null,"b"," lead",0.1,null],' +
  '["1970-01-01T00:00:04Z",null,"x\\u003c\\u0026\\u003e","\\\\.",-0,null],' +
  '["1970-01-01T00:00:05Z",null,"a,b","\u00a0nb",123456789012345680000,9223372036854775807],' +
  '["1970-01-01T00:00:06Z",null,null,"\u3000x",100000000000000000000,-9223372036854775808],' +
  '["1970-01-01T00:00:07Z",null,null,"a\\"b",0.000001,null],' +
  '["1970-01-01T00:00:08Z",null,null,"a,b\\\\",null,null]]}]}]}\n';
const ALL_CSV = `name,tags,time,b,host,s,v,w
m,,-1000000000,,,,1${"0".repeat(300)},
m,,1000000000,true,a,"a<b>&""q"" \u2028 \u0001 tab\there\b\f\v\r",1,1
m,,1500000000,,a,,1000000000000000000000,2
m,,2000000001,false,b,"\n",0.0000001,-3
m,,3000000000,,b," lead",0.1,
m,,4000000000,,x<&>,"\\.",-0,
m,,5000000000,,"a,b","\u00a0nb",123456789012345680000,9223372036854775807
m,,6000000000,,,"\u3000x",100000000000000000000,-9223372036854775808
m,,7000000000,,,"a""b",0.000001,
m,,8000000000,,,"a,b\\",,
`;

describe("values", () => {
  const all = (codes: ResultType) => [
    piece({ name: "m", tags: null, fields: ALL.map((f) => (f.name === "host" ? { ...f, type: codes } : f)) }, ALL_ROWS),
  ];

  test.each([
    ["codes", CODE],
    ["strings", TEXT],
  ] as const)("as JSON and as CSV, tags as %s", (_name, type) => {
    expect(both(ONLY, all(type))).toBe(ALL_JSON);
    expect(both({ ...ONLY, form: "csv" }, all(type))).toBe(ALL_CSV);
  });

  const EPOCHS: [unitNs: number, times: string][] = [
    [1, "-1000000000,1000000000,1500000000,2000000001"],
    [1e3, "-1000000,1000000,1500000,2000000"],
    [1e6, "-1000,1000,1500,2000"],
    [1e9, "-1,1,1,2"],
    [60e9, "0,0,0,0"],
    [3600e9, "0,0,0,0"],
  ];
  test.each(EPOCHS)("times in units of %d ns: %s", (epochNs, times) => {
    const rows = Array.from({ length: 3 }, () => ALL_ROWS.slice(0, 4).map(([time]) => [time!])).flat();
    const json = both({ ...ONLY, epochNs }, [series("m", null, { time: TIME }, rows)]);
    expect(json).toContain(
      `"values":[${[times, times, times]
        .join(",")
        .split(",")
        .map((time) => `[${time}]`)
        .join(",")}]`,
    );
    const csv = both({ ...ONLY, epochNs, form: "csv" }, [series("m", null, { time: TIME }, rows)]);
    expect(csv.split("\n").slice(1, 5).join()).toBe(
      times
        .split(",")
        .map((time) => `m,,${time}`)
        .join(),
    );
  });

  test("units larger than 2^32 ns divide towards 1970", () => {
    const week = 604_800_000_000_000;
    const rows = [-2n, -1n, 0n, 1n, 2n].flatMap((weeks) => [[weeks * BigInt(week)], [weeks * BigInt(week) + 5n]]);
    expect(both({ ...ONLY, epochNs: week }, [series("m", null, { time: TIME }, rows)])).toContain(
      '"values":[[-2],[-1],[-1],[0],[0],[0],[1],[1],[2],[2]]',
    );
  });

  test("an infinite float is an error in JSON and a word in CSV", () => {
    for (const [value, word] of [
      [Infinity, "+Inf"],
      [-Infinity, "-Inf"],
    ] as const) {
      for (const count of [1, 20]) {
        const pieces = [
          series(
            "m",
            null,
            { v: FLOAT },
            Array.from({ length: count }, (_, i) => [i === count - 1 ? value : 1]),
          ),
        ];
        for (const maker of [undefined, kernel]) {
          expect(() => pieceBytes(createV1Encoder(ONLY, maker))(pieces[0]!)).toThrow(`json: unsupported value: ${word}`);
        }
        expect(both({ ...ONLY, form: "csv" }, pieces)).toEndWith(`m,,${word}\n`);
      }
    }
  });

  test("times by the clock of a zone", () => {
    const zoned: ResultType = { kind: "timestamp", unit: "ns", zone: "America/New_York" };
    const rows = [[1n], [S * 15_000_000n], [S * 1_700_000_000n + 120_000_000n]];
    expect(both(ONLY, [series("e", null, { time: zoned }, rows)])).toContain(
      '[["1969-12-31T19:00:00.000000001-05:00"],["1970-06-23T10:40:00-04:00"],["2023-11-14T17:13:20.12-05:00"]]',
    );
    expect(both({ ...ONLY, epochNs: 1e9 }, [series("e", null, { time: zoned }, rows)])).toContain("[[0],[15000000],[1700000000]]");
  });
});

describe("random values: the kernel writes what TypeScript does", () => {
  const bits64 = (below: (n: number) => number): bigint => (BigInt(below(2 ** 32)) << 32n) | BigInt(below(2 ** 32));
  const TEXTS = [
    "",
    "a",
    "Zürich 🏔",
    "<&>",
    " ",
    "\u2028x\u2029",
    "€ €",
    "\u2027\u202a",
    "\\",
    "\\.",
    '"',
    ",",
    "\0\b\t\n\v\f\r\x1f\x7f",
    "sixteen bytes..>",
  ];
  const SPACES = ["\u0085", "\u00a0", "\u1680", "\u2000", "\u200a", "\u200b", "\u202f", "\u205f", "\u3000", "\u3001", "\u00a1", "\ufeff"];
  const MAKE: [ResultType, (below: (n: number) => number) => Plain][] = [
    [BOOLEAN, (below) => below(2) === 1],
    [INTEGER, (below) => BigInt.asIntN(64, bits64(below)) >> BigInt(below(64))],
    [UNSIGNED, (below) => bits64(below) >> BigInt(below(64))],
    [FLOAT, (below) => [Number.NaN, 0, -0, below(10_000) / 100, below(1e6), finite(bits64(below)), 10 ** (below(60) - 30)][below(7)]!],
    [TIME, (below) => BigInt.asIntN(64, bits64(below)) >> BigInt(below(20))],
    [TIME, (below) => 1_700_000_000n * S + BigInt(below(1000)) * 10n ** BigInt(below(12))],
    [TEXT, (below) => SPACES[below(20)] ?? TEXTS[below(TEXTS.length)]!.repeat(below(4))],
  ];
  const finite = (bits: bigint): number => {
    const value = new Float64Array(BigUint64Array.of(bits).buffer)[0]!;
    return Number.isFinite(value) ? value : 0;
  };

  test.each([1, 2, 3])("seed %d", (seed) => {
    const below = prng(seed);
    for (let round = 0; round < 60; round++) {
      const kinds = Array.from({ length: 1 + below(6) }, () => MAKE[below(MAKE.length)]!);
      const fields = kinds.map(([type], i) => ({ name: `c${i}`, type }));
      const nullEvery = 2 + below(5);
      const rows = Array.from({ length: 8 + below(60) }, () => kinds.map(([, make]) => (below(nullEvery) === 0 ? null : make(below))));
      const pieces = [piece({ name: "m", tags: [["t", "<a b"]], fields }, rows)];
      const chunkRows = below(2) === 0 ? null : 1 + below(20);
      const epochNs = below(2) === 0 ? null : 10 ** below(12);
      for (const form of ["json", "csv"] as const) both({ ...ONLY, form, chunkRows, epochNs, isPretty: below(2) === 0 }, pieces);
    }
  });
});

const BY_HOST = [
  series("m", [["host", ""]], V, [
    [-S, 1e300],
    [4n * S, -0],
    [5n * S, 2],
    [6n * S, 3],
    [7n * S, 0.000001],
  ]),
  series("m", [["host", "a"]], V, [
    [S, 1],
    [1_500_000_000n, 1e21],
  ]),
];
const UNNAMED = series("", null, { key: TEXT }, [["m"], ["m,host=a"]]);

describe("JSON", () => {
  const json = (over: Partial<V1Answer>, pieces: readonly SeriesPiece[]) => both({ ...ONLY, ...over }, pieces);

  test("without rows, and a series without rows or name", () => {
    expect(json({}, [])).toBe('{"results":[{"statement_id":0}]}\n');
    expect(json({ isPretty: true }, [])).toBe('{\n    "results": [\n        {\n            "statement_id": 0\n        }\n    ]\n}\n');
    expect(json({}, [UNNAMED])).toBe('{"results":[{"statement_id":0,"series":[{"columns":["key"],"values":[["m"],["m,host=a"]]}]}]}\n');
    const empty = [series("d", null, { id: INTEGER }, [[1n]]), series("foo", null, { id: INTEGER }, [])];
    expect(json({}, empty)).toBe(
      '{"results":[{"statement_id":0,"series":[{"name":"d","columns":["id"],"values":[[1]]},{"name":"foo","columns":["id"]}]}]}\n',
    );
  });

  test("series by tags, in one piece and in many", () => {
    const want =
      '{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"host":""},"columns":["time","v"],"values":[' +
      '["1969-12-31T23:59:59Z",1e+300],["1970-01-01T00:00:04Z",-0],["1970-01-01T00:00:05Z",2],["1970-01-01T00:00:06Z",3],' +
      '["1970-01-01T00:00:07Z",0.000001]]},{"name":"m","tags":{"host":"a"},"columns":["time","v"],"values":[' +
      '["1970-01-01T00:00:01Z",1],["1970-01-01T00:00:01.5Z",1e+21]]}]}]}\n';
    expect(json({}, BY_HOST)).toBe(want);
    const { head } = BY_HOST[0]!;
    const rows: Plain[][] = [
      [-S, 1e300],
      [4n * S, -0],
      [5n * S, 2],
      [6n * S, 3],
      [7n * S, 0.000001],
    ];
    expect(json({}, [...rows.map((row) => piece(head, [row])), BY_HOST[1]!])).toBe(want);
  });

  test("JSON with pretty=true is indented by four blanks", () => {
    expect(json({ isPretty: true }, [BY_HOST[1]!])).toBe(`{
    "results": [
        {
            "statement_id": 0,
            "series": [
                {
                    "name": "m",
                    "tags": {
                        "host": "a"
                    },
                    "columns": [
                        "time",
                        "v"
                    ],
                    "values": [
                        [
                            "1970-01-01T00:00:01Z",
                            1
                        ],
                        [
                            "1970-01-01T00:00:01.5Z",
                            1e+21
                        ]
                    ]
                }
            ]
        }
    ]
}
`);
  });

  test("in chunks: a document for each stretch of rows and for each series", () => {
    const rows = (...texts: string[]) => texts.map((text) => `["1970-01-01T00:00:0${text}]`).join(",");
    const document = (host: string, values: string, more: string, last: string) =>
      `{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"host":"${host}"},"columns":["time","v"],` +
      `"values":[${values}]${more}}]${last}}]}\n`;
    const partial = ',"partial":true';
    expect(json({ chunkRows: 2 }, BY_HOST)).toBe(
      document("", `["1969-12-31T23:59:59Z",1e+300],${rows('4Z",-0')}`, partial, partial) +
        document("", rows('5Z",2', '6Z",3'), partial, partial) +
        document("", rows('7Z",0.000001'), "", partial) +
        document("a", rows('1Z",1', '1.5Z",1e+21'), "", ""),
    );
    expect(json({ chunkRows: 2 }, [])).toBe('{"results":[{"statement_id":0}]}\n');
    // whole chunks: nothing follows that is empty
    expect(json({ chunkRows: 2 }, [BY_HOST[1]!])).toBe(document("a", rows('1Z",1', '1.5Z",1e+21'), "", ""));
  });

  test("in whole series: a document for each, and none says that others follow", () => {
    const of = (host: string, values: string) =>
      `{"results":[{"statement_id":0,"series":[{"name":"m","tags":{"host":"${host}"},"columns":["time","v"],"values":[${values}]}]}]}\n`;
    const [first, second] = json({ chunkRows: "series" }, BY_HOST).split("\n");
    const ofNone = `["1969-12-31T23:59:59Z",1e+300],["1970-01-01T00:00:04Z",-0],["1970-01-01T00:00:05Z",2],["1970-01-01T00:00:06Z",3]`;
    expect(`${first}\n`).toBe(of("", `${ofNone},["1970-01-01T00:00:07Z",0.000001]`));
    expect(`${second}\n`).toBe(of("a", '["1970-01-01T00:00:01Z",1],["1970-01-01T00:00:01.5Z",1e+21]'));
  });

  test("several statements, of which one failed, and warnings", () => {
    const of = (statementId: number, count: number): V1Answer => ({
      ...ONLY,
      ...{ statementId, isFirst: statementId === 0, isLast: statementId === count - 1, statementCount: count },
    });
    const warning = { level: "warning", text: "use 'POST' & <not> GET" } as const;
    const text = Buffer.concat([v1Bytes(of(0, 3), [UNNAMED]), v1Bytes(of(1, 3), [], [warning]), v1Failure(of(2, 3), 'no "such" thing')]);
    expect(text.toString()).toBe(
      '{"results":[{"statement_id":0,"series":[{"columns":["key"],"values":[["m"],["m,host=a"]]}]},' +
        '{"statement_id":1,"messages":[{"level":"warning","text":"use \'POST\' \\u0026 \\u003cnot\\u003e GET"}]},' +
        '{"statement_id":2,"error":"no \\"such\\" thing"}]}\n',
    );
    const chunked = { ...of(1, 3), chunkRows: 10 };
    expect(Buffer.from(v1Failure(chunked, "no")).toString()).toBe('{"results":[{"statement_id":1,"error":"no"}]}\n');
  });

  test.each([[false], [true]])("wherever an answer breaks, it is closed with an error (pretty: %p)", (isPretty) => {
    const many = Array.from({ length: 9000 }, (_, i) => [BigInt(i) * S, i / 8] satisfies Plain[]);
    const pieces = Array.from({ length: 9 }, (_, i) => series("m", [["host", String(i)]], V, many.slice(i * 1000, i * 1000 + 1000)));
    for (const chunkRows of [null, 700]) {
      const answer = { ...ONLY, isPretty, chunkRows };
      const encode = pieceBytes(createV1Encoder(answer, kernel));
      let sent = "";
      let breaks = 0;
      for (const each of pieces) {
        const bytes = encode(each);
        if (bytes === null) continue;
        sent += Buffer.from(bytes).toString();
        const documents = (sent + Buffer.from(v1Broken(answer, "out of <luck>")).toString()).split(isPretty ? /(?<=^}\n)/m : /(?<=\n)/);
        const last = JSON.parse(documents.at(-1)!) as { results: { error?: string; series: { values: unknown[] }[] }[] };
        expect(last.results[0]!.error).toBe("out of <luck>");
        expect(last.results[0]!.series.at(-1)!.values.length).toBeGreaterThan(0);
        for (const document of documents.slice(0, -1)) expect(document).not.toContain("error");
        breaks++;
      }
      expect(breaks).toBeGreaterThan(1);
    }
  });

  test("a request that is refused, and one without statements", () => {
    const refusal = (isPretty: boolean, message: string | null) => Buffer.from(v1Refusal({ form: "json", isPretty }, message)).toString();
    expect(refusal(false, "a < b")).toBe('{"error":"a \\u003c b"}\n');
    expect(refusal(true, "no")).toBe('{\n    "error": "no"\n}\n');
    expect(refusal(true, null)).toBe("{}\n");
  });
});

describe("CSV", () => {
  test("statements apart, series of other columns too; tags as in a series key, without those that are missing", () => {
    const tagged = series(
      "m,2",
      [
        ["r", ""],
        ["t", "a,b=c d"],
        ["u", "x"],
      ],
      V,
      [[5n, 1]],
    );
    const csv = (isFirst: boolean, pieces: SeriesPiece[]) => both({ ...ONLY, form: "csv", isFirst }, pieces);
    expect(csv(true, [])).toBe("");
    expect(csv(false, [])).toBe("");
    expect(csv(true, [tagged])).toBe('name,tags,time,v\n"m,2","t=a\\,b\\=c\\ d,u=x",5,1\n');
    expect(csv(false, [UNNAMED])).toBe('\nname,tags,key\n,,m\n,,"m,host=a"\n');
    const other = series("x", null, { time: TIME, w: INTEGER }, [[1n, 2n]]);
    expect(csv(true, [BY_HOST[1]!, BY_HOST[1]!, other])).toBe(
      `name,tags,time,v\n${"m,host=a,1000000000,1\nm,host=a,1500000000,1000000000000000000000\n".repeat(2)}` +
        "\nname,tags,time,w\nx,,1,2\n",
    );
  });

  test("errors: of a request a table, of a statement nothing, half way no end", () => {
    const shape = { form: "csv", isPretty: true } as const;
    expect(Buffer.from(v1Refusal(shape, "bad, worse")).toString()).toBe('error\n"bad, worse"\n');
    expect(v1Refusal(shape, null)).toHaveLength(0);
    expect(v1Failure({ ...ONLY, form: "csv" }, "no")).toHaveLength(0);
    expect(() => v1Broken({ ...ONLY, form: "csv" }, "no")).toThrow("no");
  });
});
