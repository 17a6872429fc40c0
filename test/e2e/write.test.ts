// Line protocol in at each of the three endpoints, rows out over SQL: types, times, names and formats, exact to the last digit.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import zlib from "node:zlib";
import { tableFromIPC } from "apache-arrow";
import { TestServer } from "../support/servers/server.ts";
import { query, scalar, store, type WriteOptions, write } from "./client.ts";

setDefaultTimeout(60_000);

describe("writes", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.dispose());

  const I64_MAX = "9223372036854775807";
  const I64_MIN = "-9223372036854775808";
  const U64_MAX = "18446744073709551615";

  describe("every endpoint stores what the others read", () => {
    const ENDPOINTS: [path: WriteOptions["path"], database: string][] = [
      ["/api/v3/write_lp", "v3"],
      ["/api/v2/write", "v2"],
      ["/write", "v1"],
    ];
    test.each(ENDPOINTS)("%s", async (path, database) => {
      const body = `cpu,host=a usage=1.5,n=${I64_MIN}i,big=${U64_MAX}u,ok=t,note="x" 1700000000123456789`;
      const answer = await write(server, database, body, { path: path! });
      expect([answer.status, answer.text]).toEqual([204, ""]);
      expect(answer.headers.get("cluster-uuid")).toMatch(/^[0-9a-f]{8}-[0-9a-f-]{27}$/);
      expect((await query(server, database, "SELECT * FROM cpu", { format: "json" })).text).toBe(
        `[{"big":${U64_MAX},"host":"a","n":${I64_MIN},"note":"x","ok":true,"time":"2023-11-14T22:13:20.123456789","usage":1.5}]`,
      );
    });
  });

  test("of requests that come in one piece no row is stored without an answer, while other connections write", async () => {
    const { hostname, port } = new URL(server.url);
    const request = (series: string) => {
      const body = `t,k=${series} v=1 1`;
      return `POST /api/v3/write_lp?db=pieces HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    };
    /** What came back before the connection ended: by the server, or after an answer to a single request. */
    const send = async (series: readonly string[]): Promise<string> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      let text = "";
      await Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          open: (socket) => void socket.write(series.map(request).join("")),
          data: (socket, bytes) => {
            text += bytes.toString();
            if (series.length === 1) socket.end();
          },
          close: () => resolve(),
          error: () => resolve(),
        },
      });
      await promise;
      return text;
    };
    expect(await send(["first"])).toStartWith("HTTP/1.1 204");
    const asked = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? [`a${i}`, `b${i}`] : [`a${i}`]));
    const answers = await Promise.all(asked.map(send));
    const answered = asked.filter((_, i) => answers[i]!.startsWith("HTTP/1.1 204")).map(([series]) => series!);
    expect(answered).toEqual(asked.filter(({ length }) => length === 1).map(([series]) => series!));
    const { text } = await query(server, "pieces", "SELECT k FROM t", { format: "json" });
    const stored = (JSON.parse(text) as { k: string }[]).map(({ k }) => k);
    expect(stored.sort()).toEqual([...answered, "first"].sort());
  });

  describe("a time means what the precision says", () => {
    const CASES: [path: NonNullable<WriteOptions["path"]>, precision: string | null, time: string, nanoseconds: string][] = [
      // guessed from the size of the number, whatever its sign
      ["/api/v3/write_lp", null, "4999999999", "4999999999000000000"],
      ["/api/v3/write_lp", "auto", "5000000000", "5000000000000000"],
      ["/api/v3/write_lp", "auto", "4999999999999", "4999999999999000000"],
      ["/api/v3/write_lp", "auto", "5000000000000", "5000000000000000"],
      ["/api/v3/write_lp", "auto", "4999999999999999", "4999999999999999000"],
      ["/api/v3/write_lp", "auto", "5000000000000000", "5000000000000000"],
      ["/api/v3/write_lp", "auto", "-4999999999", "-4999999999000000000"],
      ["/api/v3/write_lp", "auto", "-5000000000", "-5000000000000000"],
      ["/api/v3/write_lp", "auto", "0", "0"],
      // named
      ["/api/v3/write_lp", "second", "17", "17000000000"],
      ["/api/v3/write_lp", "millisecond", "17", "17000000"],
      ["/api/v3/write_lp", "microsecond", "17", "17000"],
      ["/api/v3/write_lp", "nanosecond", "17", "17"],
      ["/api/v3/write_lp", "ms", "-1", "-1000000"],
      ["/api/v3/write_lp", "ns", I64_MAX, I64_MAX],
      ["/api/v3/write_lp", "ns", I64_MIN, I64_MIN],
      ["/api/v2/write", null, "17", "17"],
      ["/api/v2/write", "s", "17", "17000000000"],
      ["/api/v2/write", "ms", "17", "17000000"],
      ["/api/v2/write", "us", "17", "17000"],
      ["/write", null, "17", "17"],
      ["/write", "u", "17", "17000"],
      ["/write", "µ", "17", "17000"],
      ["/write", "m", "17", "1020000000000"],
      ["/write", "h", "17", "61200000000000"],
    ];
    test.each(CASES)("%s precision=%s %s", async (path, precision, time, nanoseconds) => {
      const database = `t${CASES.findIndex((row) => row[0] === path && row[1] === precision && row[2] === time)}`;
      const params = precision === null ? {} : { precision };
      expect((await write(server, database, `t v=1 ${time}`, { path, params })).status).toBe(204);
      // as text: no JSON reader rounds it
      expect((await query(server, database, "SELECT CAST(time AS BIGINT) AS ns FROM t", { format: "csv" })).text).toBe(
        `ns\n${nanoseconds}\n`,
      );
    });

    test("a line without a time gets the time of receipt, the same for the whole body, cut to the precision", async () => {
      const beforeMs = Date.now();
      await write(server, "now", "t,h=a v=1\nt,h=b v=2\n", { params: { precision: "second" } });
      await write(server, "now", "u v=1");
      const afterMs = Date.now();
      const times = await query(server, "now", "SELECT DISTINCT CAST(time AS BIGINT) AS ns FROM t", { format: "csv" });
      const [, ns, ...rest] = times.text.trimEnd().split("\n");
      expect(rest).toEqual([]);
      expect(BigInt(ns!) % 1_000_000_000n).toBe(0n);
      expect(Number(BigInt(ns!) / 1_000_000n)).toBeWithin(beforeMs - 1000, afterMs + 1);
      const second = Number(await scalar(server, "now", "SELECT CAST(time AS BIGINT) / 1000000 FROM u"));
      expect(second).toBeWithin(beforeMs, afterMs + 1);
    });

    test("bodies without times do not overwrite each other", async () => {
      await Promise.all(Array.from({ length: 20 }, (_, i) => write(server, "receipt", `t v=${i}`)));
      expect(await scalar(server, "receipt", "SELECT count(DISTINCT v) FROM t")).toBe(20);
    });
  });

  describe("values come back as they were sent", () => {
    const CASES: [name: string, value: string, json: string][] = [
      ["the largest integer", `${I64_MAX}i`, I64_MAX],
      ["the smallest integer", `${I64_MIN}i`, I64_MIN],
      ["an unsigned beyond 2^63", "9223372036854775808u", "9223372036854775808"],
      ["the largest unsigned", `${U64_MAX}u`, U64_MAX],
      ["a float without a fraction", "12", "12.0"],
      ["a float with all its digits", "0.30000000000000004", "0.30000000000000004"],
      ["the smallest float", "5e-324", "5.0e-324"],
      ["the largest float", "1.7976931348623157e308", "1.7976931348623157e308"],
      ["minus zero", "-0", "-0.0"],
      ["true", "TRUE", "true"],
      ["false", "f", "false"],
      ["an empty string", '""', '""'],
      ["a string with line breaks", '"a\nb\r\nc"', '"a\\nb\\r\\nc"'],
      ["quotes and backslashes", '"say \\"hi\\" \\\\ \\n"', '"say \\"hi\\" \\\\ \\\\n"'],
      ["text of four-byte characters", '"日本 🚀 ü"', '"日本 🚀 ü"'],
      ["what looks like line protocol", '"b,c=d e=1 2"', '"b,c=d e=1 2"'],
    ];
    test.each(CASES)("%s", async (name, value, json) => {
      const table = `value${CASES.findIndex(([other]) => other === name)}`;
      await store(server, "values", `${table} v=${value} 1`);
      expect((await query(server, "values", `SELECT v FROM ${table}`, { format: "json" })).text).toBe(`[{"v":${json}}]`);
    });
  });

  describe("names", () => {
    test("escapes in table, tag and field names and in tag values", async () => {
      await store(server, "names", String.raw`my\ table\,x,tag\ \=key=va\,l\ u\=e f\ \,\=n=1 1`);
      const { text } = await query(server, "names", `SELECT * FROM "my table,x"`, { format: "json" });
      expect(JSON.parse(text)).toEqual([{ "tag =key": "va,l u=e", "f ,=n": 1, time: "1970-01-01T00:00:00.000000001" }]);
    });

    test("names of tables, tags and fields in any script", async () => {
      await store(server, "names", "größe,Größe=ß,日本=🚀 中=1 1");
      const { text } = await query(server, "names", `SELECT "Größe", "日本", "中" FROM "größe" WHERE "日本" = '🚀'`, { format: "json" });
      expect(text).toBe('[{"Größe":"ß","日本":"🚀","中":1.0}]');
    });

    test("tables and columns that differ only by case are different", async () => {
      await store(server, "names", "Cpu,Host=a,host=b Value=1,value=2,VALUE=3 1\ncpu,host=c value=4 1\nCPU v=5 1");
      expect(await server.sql("names", 'SELECT "Host", host, "Value", value, "VALUE" FROM "Cpu"')).toEqual([
        { Host: "a", host: "b", Value: 1, value: 2, VALUE: 3 },
      ]);
      expect(await server.sql("names", "SELECT Host, value FROM Cpu")).toEqual([{ host: "c", value: 4 }]);
      expect(await server.sql("names", 'SELECT v FROM "CPU"')).toEqual([{ v: 5 }]);
    });

    test("SQL words and quotes as names", async () => {
      await store(server, "names", 'select,from=a where=1,"q"=2,it\'s=3 1');
      expect(await server.sql("names", 'SELECT "from", "where", """q""", "it\'s" FROM "select"')).toEqual([
        { from: "a", where: 1, '"q"': 2, "it's": 3 },
      ]);
    });

    test("a tag and the value of a tag are found whatever order they were sent in", async () => {
      await store(server, "names", "order,a=1,b=2 v=1 1\norder,b=2,a=1 w=2 1\norder,a=1 v=3 1");
      expect(await server.sql("names", 'SELECT a, b, v, w FROM "order" ORDER BY b NULLS LAST')).toEqual([
        { a: "1", b: "2", v: 1, w: 2 },
        { a: "1", v: 3 },
      ]);
    });
  });

  describe("bodies", () => {
    test("comments, blank lines, CRLF, leading blanks and many spaces", async () => {
      await store(server, "bodies", "# head\r\n\r\n  t v=1 1\r\n\nt    v=2    2   \n\t\n#t v=9 9\nt v=3 3");
      expect(await server.sql("bodies", "SELECT v FROM t ORDER BY time")).toEqual([{ v: 1 }, { v: 2 }, { v: 3 }]);
    });

    test("gzip of one and of several members", async () => {
      const members = Array.from({ length: 3 }, (_, i) =>
        zlib.gzipSync(Array.from({ length: 1000 }, (_, j) => `g v=${j} ${i * 1000 + j}\n`).join("")),
      );
      const answer = await write(server, "bodies", Buffer.concat(members), {
        headers: { "content-encoding": "gzip" },
        params: { precision: "ns" },
      });
      expect(answer.status).toBe(204);
      expect(await server.sql("bodies", "SELECT count(*) AS n, sum(v) AS s FROM g")).toEqual([{ n: 3000, s: 3 * 499_500 }]);
    });

    test("a line split between two members of gzip", async () => {
      const body = Buffer.concat([zlib.gzipSync("split v=1 1\nspl"), zlib.gzipSync("it v=2 2")]);
      expect((await write(server, "bodies", body, { headers: { "content-encoding": "gzip" }, params: { precision: "ns" } })).status).toBe(
        204,
      );
      expect(await scalar(server, "bodies", "SELECT sum(v) FROM split")).toBe(3);
    });

    test("no_sync rows are there when the answer is", async () => {
      expect((await write(server, "bodies", "ns v=1 1", { params: { no_sync: "true" } })).status).toBe(204);
      expect(await scalar(server, "bodies", "SELECT count(*) FROM ns")).toBe(1);
    });

    test("rp names another database on /write", async () => {
      expect((await write(server, "shop", "t v=1 1", { path: "/write", params: { rp: "Weekly" } })).status).toBe(204);
      expect((await write(server, "shop", "t v=2 1", { path: "/write", params: { rp: "autogen" } })).status).toBe(204);
      expect(await scalar(server, "shop/weekly", "SELECT v FROM t")).toBe(1);
      expect(await scalar(server, "shop", "SELECT v FROM t")).toBe(2);
    });
  });

  describe("the same answer in every format", () => {
    const STATEMENT = "SELECT time, host, f, n, u, b, s FROM formats ORDER BY time";
    beforeAll(async () => {
      const lines = [
        `formats,host=a f=0.5,n=-7i,u=${U64_MAX}u,b=t,s="x, \\"y\\"\nz" 1700000000000000000`,
        "formats f=1 1700000000001000000",
        "formats,host=b n=3i 1700000000000000001",
      ];
      await store(server, "formats", lines.join("\n"));
    });

    const TEXTS: [format: string, contentType: string, text: string][] = [
      [
        "json",
        "application/json",
        `[{"time":"2023-11-14T22:13:20","host":"a","f":0.5,"n":-7,"u":${U64_MAX},"b":true,"s":"x, \\"y\\"\\nz"},` +
          `{"time":"2023-11-14T22:13:20.000000001","host":"b","n":3},{"time":"2023-11-14T22:13:20.001","f":1.0}]`,
      ],
      [
        "jsonl",
        "application/jsonl",
        `{"time":"2023-11-14T22:13:20","host":"a","f":0.5,"n":-7,"u":${U64_MAX},"b":true,"s":"x, \\"y\\"\\nz"}\n` +
          `{"time":"2023-11-14T22:13:20.000000001","host":"b","n":3}\n{"time":"2023-11-14T22:13:20.001","f":1.0}\n`,
      ],
      [
        "csv",
        "text/csv",
        `time,host,f,n,u,b,s\n2023-11-14T22:13:20,a,0.5,-7,${U64_MAX},true,"x, ""y""\nz"\n` +
          "2023-11-14T22:13:20.000000001,b,,3,,,\n2023-11-14T22:13:20.001,,1.0,,,,\n",
      ],
      [
        "pretty",
        "text/plain; charset=utf-8",
        [
          "+-------------------------------+------+-----+----+----------------------+------+--------+",
          "| time                          | host | f   | n  | u                    | b    | s      |",
          "+-------------------------------+------+-----+----+----------------------+------+--------+",
          `| 2023-11-14T22:13:20           | a    | 0.5 | -7 | ${U64_MAX} | true | x, "y" |`,
          "|                               |      |     |    |                      |      | z      |",
          "| 2023-11-14T22:13:20.000000001 | b    |     | 3  |                      |      |        |",
          "| 2023-11-14T22:13:20.001       |      | 1.0 |    |                      |      |        |",
          "+-------------------------------+------+-----+----+----------------------+------+--------+",
        ].join("\n"),
      ],
    ];
    test.each(TEXTS)("%s", async (format, contentType, text) => {
      const answer = await query(server, "formats", STATEMENT, { format });
      expect(answer.headers.get("content-type")).toBe(contentType);
      expect(answer.text).toBe(text);
      expect((await query(server, "formats", STATEMENT, { accept: contentType })).text).toBe(format === "json" ? SEED : text);
    });

    const SEED =
      '{"results":[{"series":[{"name":"formats","columns":["time","host","f","n","u","b","s"],"values":[' +
      `["2023-11-14T22:13:20","a",0.5,-7,${U64_MAX},true,"x, \\"y\\"\\nz"],` +
      '["2023-11-14T22:13:20.000000001","b",null,3,null,null,null],["2023-11-14T22:13:20.001",null,1.0,null,null,null,null]]}]}]}';
    test("the default is the results object", async () => {
      const answer = await query(server, "formats", STATEMENT);
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(answer.text).toBe(SEED);
    });

    test("arrow, exact to the nanosecond", async () => {
      const response = await fetch(`${server.url}/api/v3/query_sql?db=formats&format=arrow&q=${encodeURIComponent(STATEMENT)}`);
      expect(response.headers.get("content-type")).toBe("application/vnd.apache.arrow.stream");
      const table = tableFromIPC(new Uint8Array(await response.arrayBuffer()));
      expect(table.schema.fields.map(({ name }) => name)).toEqual(["time", "host", "f", "n", "u", "b", "s"]);
      const times = table.getChild("time")!.data.flatMap(({ values, length }) => [...(values as BigInt64Array).subarray(0, length)]);
      expect(times).toEqual([1700000000000000000n, 1700000000000000001n, 1700000000001000000n]);
      expect([...table.getChild("u")!]).toEqual([18446744073709551615n, null, null]);
      expect([...table.getChild("host")!]).toEqual(["a", "b", null]);
      expect([...table.getChild("s")!]).toEqual(['x, "y"\nz', null, null]);
    });

    test("parquet is a parquet file", async () => {
      const response = await fetch(`${server.url}/api/v3/query_sql?db=formats&format=parquet&q=${encodeURIComponent(STATEMENT)}`);
      expect(response.headers.get("content-type")).toBe("application/vnd.apache.parquet");
      const bytes = Buffer.from(await response.arrayBuffer());
      expect([bytes.toString("latin1", 0, 4), bytes.toString("latin1", bytes.byteLength - 4)]).toEqual(["PAR1", "PAR1"]);
    });

    const EMPTY: [format: string | undefined, text: string][] = [
      ["json", "[]"],
      ["jsonl", ""],
      [undefined, '{"results":[{"series":[{"name":"formats","columns":["host"],"values":[]}]}]}'],
    ];
    test.each(EMPTY)("no rows as %p", async (format, text) => {
      expect((await query(server, "formats", "SELECT host FROM formats WHERE f > 9", format === undefined ? {} : { format })).text).toBe(
        text,
      );
    });
  });
});
