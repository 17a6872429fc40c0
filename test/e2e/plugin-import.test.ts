// A plugin that imports another database over /query, as importers of older servers do: names and types from SHOW, the first and last row,
// counts of windows, rows of windows; and its own progress in tables that it reads while it runs.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginPython } from "../support/plugins/plugins.ts";
import { TestServer } from "../support/servers/server.ts";

setDefaultTimeout(60_000);

const PLUGIN = `
import datetime, json, urllib.parse, urllib.request

class Lines:
    def __init__(self, lines): self.lines = lines
    def build(self): return "\\n".join(line.build() for line in self.lines)

def process_request(local, query, headers, body, args=None):
    job = json.loads(body)
    token = headers.get("source-token")
    def ask(statement):
        address = job["url"] + "/query?" + urllib.parse.urlencode({"db": job["database"], "q": statement})
        # a GET that names the type of a body that it does not have
        request = urllib.request.Request(address, headers={"Content-Type": job["type"], "Authorization": job["scheme"] + " " + token})
        with urllib.request.urlopen(request, timeout=30) as answer: result = json.load(answer)["results"][0]
        if "error" in result: raise RuntimeError(result["error"])
        return result["series"][0] if "series" in result else {"columns": [], "values": []}
    def time_of(table, order):
        found = ask(f'SELECT * FROM "{table}" ORDER BY time {order} LIMIT 1')
        text = found["values"][0][found["columns"].index("time")]
        return datetime.datetime.fromisoformat(text[:26].rstrip("Z") + "+00:00")
    def note(table, status):
        local.write_sync(LineBuilder("progress").tag("table_name", table).string_field("status", status), no_sync=False)
        return local.query("SELECT status FROM 'progress' WHERE table_name = $table ORDER BY time DESC LIMIT 1", {"table": table})[0]["status"]
    report = {}
    for table in sorted(row[0] for row in ask("SHOW MEASUREMENTS")["values"]):
        types = {name: kind for name, kind in ask(f'SHOW FIELD KEYS FROM "{table}"')["values"]}
        tags = [row[0] for row in ask(f'SHOW TAG KEYS FROM "{table}"')["values"]]
        at, end = time_of(table, "ASC"), time_of(table, "DESC") + datetime.timedelta(microseconds=1)
        report[table] = {"types": types, "tags": tags, "counted": 0, "states": [note(table, "begun")]}
        while at < end:
            to = min(at + datetime.timedelta(seconds=job["window"]), end)
            where = f"""
              WHERE time >= '{at.isoformat()}' AND
                    time < '{to.isoformat()}'
            """
            counts = ask(f'SELECT COUNT(*) FROM "{table}"' + where)["values"]
            report[table]["counted"] += counts[0][1] if counts else 0
            found = ask(f'SELECT * FROM "{table}"' + where + " ORDER BY time ASC")
            lines = []
            for row in found["values"]:
                values = dict(zip(found["columns"], row))
                line = LineBuilder(table)
                for tag in tags:
                    if values[tag] is not None: line.tag(tag, values[tag])
                for name, kind in types.items():
                    if values[name] is None: continue
                    method = {"integer": "int64", "unsigned": "uint64", "boolean": "bool", "float": "float64"}.get(kind, kind)
                    getattr(line, method + "_field")(name, float(values[name]) if kind == "float" else values[name])
                second, _, part = values["time"].rstrip("Z").partition(".")
                seconds = int(datetime.datetime.fromisoformat(second + "+00:00").timestamp())
                lines.append(line.time_ns(seconds * 1_000_000_000 + int(part.ljust(9, "0") or 0)))
            if lines: local.write_sync_to_db(job["to"], Lines(lines), no_sync=True)
            at = to
        report[table]["states"].append(note(table, "done"))
    return report
`;

if (pluginPython() !== null) {
  const folder = mkdtempSync(join(tmpdir(), "tsdb-import-plugin-"));
  let server: TestServer;
  let token: string;
  beforeAll(async () => {
    writeFileSync(join(folder, "importer.py"), PLUGIN);
    server = await TestServer.start({ withAuth: true, flags: ["--plugin-dir", folder] });
    token = ((await (await send("/api/v3/configure/token/admin", "")).json()) as { token: string }).token;
    expect((await send("/api/v3/configure/database", '{"db":"state"}')).status).toBe(200);
    expect((await send("/api/v3/write_lp?db=old&precision=nanosecond", LINES.join("\n"))).status).toBe(204);
    const trigger = { db: "state", trigger_name: "import", trigger_specification: "request:import", plugin_filename: "importer.py" };
    const settings = { trigger_settings: { run_async: false, error_behavior: "log" }, disabled: false };
    expect((await send("/api/v3/configure/processing_engine_trigger", JSON.stringify({ ...trigger, ...settings }))).status).toBe(200);
  });
  afterAll(async () => {
    await server.dispose();
    rmSync(folder, { recursive: true });
  });

  const START_NS = 1_767_225_600_123_456_789n; // 2026-01-01T00:00:00.123456789Z
  const LINES = Array.from({ length: 3000 }, (_, i) => {
    const host = i % 3 === 0 ? "" : `,host=h\\ ${i % 3}`;
    const fields = `f=${i / 4},i=${i}i,u=${i}u,b=${i % 2 === 0}${i % 5 === 0 ? `,s="a\\"b ${i}"` : ""}`;
    return `${i % 10 === 0 ? "few" : "many"}${host} ${fields} ${START_NS + BigInt(i) * 1_000_000_001n}`;
  });

  const send = (path: string, body: string, more: Record<string, string> = {}) =>
    fetch(server.url + path, {
      ...{ method: "POST", body },
      headers: { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...more },
    });

  test.each([
    ["application/json", "Bearer", 900],
    ["application/vnd.influxql", "Token", 10_000],
  ])("%s, %s, windows of %d s: every row, field and nanosecond arrives", async (type, scheme, window) => {
    const to = `new ${scheme}`;
    const job = { url: server.url, database: "old", to, type, scheme, window };
    const answer = await send("/api/v3/engine/import?action=start", JSON.stringify(job), { "Source-Token": token });
    const types = { b: "boolean", f: "float", i: "integer", s: "string", u: "unsigned" };
    const table = (counted: number) => ({ types, tags: ["host"], counted, states: ["begun", "done"] });
    expect([answer.status, await answer.json()]).toEqual([200, { few: table(300), many: table(2700) }]);
    const rows = async (db: string, name: string) => {
      const query = new URLSearchParams({ db, q: `SELECT * FROM ${name} ORDER BY time`, format: "csv" });
      return (await send(`/api/v3/query_sql?${query}`, "")).text();
    };
    for (const name of ["few", "many"]) expect(await rows(to, name)).toBe(await rows("old", name));
  });
}
