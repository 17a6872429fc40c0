// Bodies with bad lines: the errors in answers, the rows stored around them, and that a bad line leaves no trace.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { TestServer } from "../support/servers/server.ts";
import { scalar, store, type WriteOptions, write } from "./client.ts";

type Path = NonNullable<WriteOptions["path"]>;

setDefaultTimeout(60_000);

describe("rejected lines", () => {
  let server: TestServer;
  let databaseCount = 0;
  beforeAll(async () => {
    server = await TestServer.start();
  });
  afterAll(() => server.dispose());

  const freshDatabase = () => `d${databaseCount++}`;
  const record = (error_message: string, line_number: number, original_line: string) => ({ error_message, line_number, original_line });
  const FLOAT_GOT_STRING =
    "invalid column type for column 'v', expected iox::column_type::field::float, got iox::column_type::field::string";

  /** Line 1 is a comment and line 4 lies inside a string: both count. */
  const BODY = `# one\nt,h=a v=1,s="x\ny" 1\nt,h=b v= 2\n\nt,h=c v="z" 3\nt,h=d v=4 4`;
  const BAD = [record("No fields were provided", 4, "t,h=b v= 2"), record(FLOAT_GOT_STRING, 6, "t,h=c v=z 3")];

  describe("good lines around bad ones are stored, the bad ones are named", () => {
    const CASES: [path: Path, body: unknown][] = [
      ["/api/v3/write_lp", { error: "partial write of line protocol occurred", data: BAD }],
      ["/write", { error: "No fields were provided: partial write of line protocol occurred", data: BAD }],
      [
        "/api/v2/write",
        {
          code: "invalid",
          message: "write buffer error: line protocol parse failed: No fields were provided (line 4); rejected lines: 2, stored lines: 2",
        },
      ],
    ];
    test.each(CASES)("%s", async (path, body) => {
      const database = freshDatabase();
      const answer = await write(server, database, BODY, { path });
      expect(answer.status).toBe(400);
      expect(answer.headers.get("content-type")).toBe("application/json");
      expect(JSON.parse(answer.text)).toEqual(body);
      expect(await server.sql(database, "SELECT h, v, s FROM t ORDER BY h")).toEqual([
        { h: "a", v: 1, s: "x\ny" },
        { h: "d", v: 4 },
      ]);
    });
  });

  describe("accept_partial=false stores all or nothing", () => {
    const CASES: [path: Path, body: unknown][] = [
      ["/api/v3/write_lp", { error: "parsing failed for write_lp endpoint", data: BAD[0] }],
      ["/write", { error: "write of line protocol failed", data: BAD }],
      [
        "/api/v2/write",
        {
          code: "invalid",
          message: "write buffer error: line protocol parse failed: No fields were provided (line 4); rejected lines: 6, stored lines: 0",
        },
      ],
    ];
    test.each(CASES)("%s", async (path, body) => {
      const database = freshDatabase();
      await store(server, database, "other v=1 1");
      const params = { accept_partial: "false" };
      const answer = await write(server, database, BODY, { path, params });
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text)).toMatchObject(path === "/api/v2/write" ? { code: "invalid" } : (body as object));
      expect(await server.sql(database, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iox'")).toEqual([
        { table_name: "other" },
      ]);
      expect((await write(server, database, "t,h=a v=1 1\nt,h=b v=2 2", { path, params })).status).toBe(204);
      expect(await scalar(server, database, "SELECT count(*) FROM t")).toBe(2);
    });
  });

  test("when every line is bad, /write says so, and no database is made", async () => {
    const database = freshDatabase();
    const answer = await write(server, database, "a\nb", { path: "/write" });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toEqual({
      error: "write of line protocol failed",
      data: [1, 2].map((line) => record("Expected at least one space character, got end of input", line, line === 1 ? "a" : "b")),
    });
    const missing = await fetch(`${server.url}/api/v3/query_sql?db=${database}&q=SELECT+1`);
    expect([missing.status, await missing.text()]).toEqual([404, `{"error":"query error: database not found: ${database}"}`]);
  });

  test("the first hundred bad lines are described, whole, and every good line between them is stored", async () => {
    const database = freshDatabase();
    const lines = Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? `t v=${i} ${i}` : `t,h=${"x".repeat(200)}${i} v=`));
    const answer = await write(server, database, lines.join("\n"), { path: "/write" });
    const { data } = JSON.parse(answer.text) as { data: { line_number: number; original_line: string }[] };
    expect(data.map(({ line_number }) => line_number)).toEqual(Array.from({ length: 100 }, (_, i) => 2 * i + 2));
    expect(data.map(({ original_line }) => original_line)).toEqual(Array.from({ length: 100 }, (_, i) => lines[2 * i + 1]!));
    expect(await server.sql(database, "SELECT count(*) AS n, sum(v) AS s FROM t")).toEqual([{ n: 500, s: 249_500 }]);
  });

  describe("what is wrong with a line, in the words clients match on", () => {
    const CASES: [line: string, message: string][] = [
      ["t", "Expected at least one space character, got end of input"],
      ["t v", "No fields were provided"],
      ["t,h v=1", "Tag set malformed: could not find equals sign in `h v=1`"],
      [",h=a v=1", "Invalid measurement was provided"],
      ["t v=1i2", "Could not parse entire line. Found trailing content: `2`"],
      ["t v=9223372036854775808i", "Unable to parse integer value `9223372036854775808`"],
      ["t v=18446744073709551616u", "Unable to parse unsigned integer value `18446744073709551616`"],
      ["t v=1 9223372036854775808", "Unable to parse timestamp value `9223372036854775808`"],
      ["t v=1 1 1", "Could not parse entire line. Found trailing content: `1`"],
      ["t v=1,v=2 1", "invalid line protocol - multiple instances of 'v' field found"],
      ["t,h=1,h=2 v=1", "Must not contain duplicate tags, but `h` was repeated"],
      ["t time=1", "'time' is a reserved column"],
      ["t,time=1 v=1", "'time' is a reserved column"],
      ["t\\ v=1", "Expected at least one space character, got end of input"],
    ];
    test.each(CASES)("%s", async (line, message) => {
      const { status, text } = await write(server, "lines", line);
      expect(status).toBe(400);
      expect(JSON.parse(text)).toEqual({ error: "partial write of line protocol occurred", data: [record(message, 1, line)] });
    });

    test("a time that does not fit in nanoseconds", async () => {
      const { text } = await write(server, "lines", "t v=1 9223372037", { params: { precision: "second" } });
      expect(text).toContain("timestamp, 9223372037, out of range for precision: Second");
    });
  });

  describe("a bad line changes no schema", () => {
    test("no table, column, type or tag of a rejected line exists afterwards", async () => {
      const database = freshDatabase();
      await store(server, database, "t v=1 1");
      const answer = await write(server, database, 't,newtag=x v="s",newfield=1 2\nnewtable v=1,v=2 3\nt,v=tag w=1 4');
      expect(answer.status).toBe(400);
      const columns = await server.sql(
        database,
        "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'iox' ORDER BY 1, 2",
      );
      expect(columns).toEqual([
        { table_name: "t", column_name: "time" },
        { table_name: "t", column_name: "v" },
      ]);
      // the names are free for any kind and type
      await store(server, database, "t newtag=1i,newfield=true 5");
    });
  });

  describe("limits", () => {
    const COLUMNS_MESSAGE = "Update to schema would exceed number of columns per table limit of 500 columns";
    const fields = (count: number) => Array.from({ length: count }, (_, i) => `f${i}=${i}`).join(",");

    test("500 columns besides time are taken in one line, and come back", async () => {
      const database = freshDatabase();
      await store(server, database, `wide,tag=a ${fields(499)} 1`);
      await store(server, database, `wider ${fields(500)} 1`);
      const [row] = await server.sql(database, "SELECT * FROM wider");
      expect(Object.keys(row!)).toHaveLength(501);
      expect([row!["f0"], row!["f499"]]).toEqual([0, 499]);
      const answer = await write(server, database, "wide,tag=a f0=1 2\nwide,other=b f0=2 3\nwide f500=3 4\nwide f1=5 6", {
        params: { precision: "ns" },
      });
      expect(answer.status).toBe(422);
      expect(
        JSON.parse(answer.text).data.map((bad: { line_number: number; error_message: string }) => [bad.line_number, bad.error_message]),
      ).toEqual([
        [2, COLUMNS_MESSAGE],
        [3, COLUMNS_MESSAGE],
      ]);
      expect(await scalar(server, database, "SELECT count(*) FROM wide")).toBe(3);
    });

    const TOO_WIDE: [why: string, line: string][] = [
      ["501 fields", `t ${fields(501)} 1`],
      ["500 fields and a tag", `t,h=a ${fields(500)} 1`],
      ["501 tags", `t,${fields(501)} v=1 1`],
      ["100,000 tags", `t,${fields(100_000)} v=1 1`],
    ];
    test.each(TOO_WIDE)("%s in one line: 422, and the lines around it are stored", async (_, line) => {
      const database = freshDatabase();
      const answer = await write(server, database, `t v=1 1\n${line}\nt v=2 2`);
      expect(answer.status).toBe(422);
      expect(JSON.parse(answer.text).data).toEqual([record(COLUMNS_MESSAGE, 2, line)]);
      expect(await scalar(server, database, "SELECT count(*) FROM t")).toBe(2);
    });

    test("a new field in each of 100,000 lines: 500 columns are made, every other line is refused, the memory is given back", async () => {
      const database = freshDatabase();
      const body = Array.from({ length: 100_000 }, (_, i) => `t f${i}=1 ${i}`).join("\n");
      const answer = await write(server, database, body, { params: { precision: "ns" } });
      expect(answer.status).toBe(422);
      expect(JSON.parse(answer.text).data[0]).toEqual(record(COLUMNS_MESSAGE, 501, "t f500=1 500"));
      expect(await scalar(server, database, "SELECT count(*) FROM t")).toBe(500);
      // what the bad lines brought does not stand in the way of good ones
      await store(server, database, "t f499=2 0\nu,h=a new=1 1");
      expect(await server.sql(database, "SELECT f0, f499 FROM t WHERE time = TIMESTAMP '1970-01-01T00:00:00Z'")).toEqual([
        { f0: 1, f499: 2 },
      ]);
    });

    test("a string of 1 MiB is stored, one byte more is refused", async () => {
      const database = freshDatabase();
      const answer = await write(server, database, `t s="${"a".repeat(1 << 20)}" 1\nt s="${"b".repeat((1 << 20) + 1)}" 2`);
      expect(answer.status).toBe(400);
      expect(JSON.parse(answer.text).data).toMatchObject([{ error_message: "String is greater than 1MB", line_number: 2 }]);
      expect(await server.sql(database, "SELECT length(s) AS n, min(s) = repeat('a', 1048576) AS same FROM t GROUP BY s")).toEqual([
        { n: 1 << 20, same: true },
      ]);
    });
  });

  describe("requests that are refused whole", () => {
    const CASES: [path: string, init: RequestInit, status: number, body: unknown][] = [
      ["/api/v3/write_lp", {}, 400, { error: "missing query parameter 'db'" }],
      ["/api/v2/write", {}, 400, { code: "invalid", message: "no org/bucket destination provided" }],
      ["/api/v2/write?bucket=", {}, 400, { code: "invalid", message: "missing bucket value" }],
      ["/write", {}, 400, { error: "no db destination provided" }],
      ["/api/v2/write?bucket=d", { body: "" }, 400, { code: "invalid", message: "write buffer error: incoming write was empty" }],
      ["/api/v3/write_lp?db=_x", {}, 400, { error: "db name did not start with a number or letter" }],
      ["/api/v3/write_lp?db=d", { body: "" }, 400, { error: "incoming write was empty" }],
      ["/api/v3/write_lp?db=d", { body: "# only a comment\n" }, 400, { error: "incoming write was empty" }],
      ["/api/v3/write_lp?db=d", { headers: { "content-encoding": "br" } }, 400, { error: "unacceptable content-encoding: br" }],
      ["/api/v3/write_lp?db=d", { body: "x".repeat(10_485_761) }, 413, { error: "max request size (10485760 bytes) exceeded" }],
      [
        "/api/v2/write?bucket=d",
        { body: "x".repeat(10_485_761) },
        413,
        { code: "request too large", message: "max request size (10485760 bytes) exceeded" },
      ],
      ["/write?db=d", { body: "x".repeat(10_485_761) }, 413, { error: "max request size (10485760 bytes) exceeded" }],
    ];
    test.each(CASES)("%s: %#", async (path, init, status, body) => {
      const response = await fetch(`${server.url}${path}`, { method: "POST", body: "t v=1 1", ...init });
      expect(response.status).toBe(status);
      expect(await response.json()).toEqual(body);
      expect(response.headers.get("cluster-uuid")).not.toBeNull();
    });

    const ODD: [query: string][] = [
      ["db=a&db=b"],
      ["db=%zz"],
      ["db=%ff"],
      ["db=d&accept_partial=perhaps"],
      ["db=d&precision=s&precision=s"],
    ];
    test.each(ODD)("?%s is 400", async (query) => {
      const response = await fetch(`${server.url}/api/v3/write_lp?${query}`, { method: "POST", body: "t v=1 1" });
      expect([response.status, Object.keys((await response.json()) as object)]).toEqual([400, ["error"]]);
    });

    test("a body of broken gzip is refused", async () => {
      const response = await write(server, "d", new Uint8Array([31, 139, 8, 0, 1, 2, 3]), { headers: { "content-encoding": "gzip" } });
      expect(response.status).toBe(400);
      expect(response.text).toContain("error decoding gzip stream: ");
    });
  });
});
