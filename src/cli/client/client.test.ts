// The parts of the client commands that need no server: arguments, bodies cut at line ends, statements cut at semicolons, configuration
// files, completions.
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { prng } from "../../../test/support/prng.ts";
import { readConfigFile } from "../config-file.ts";
import { parseServeFlags } from "../serve-config.ts";
import type { ClientCommand, Terminal } from "./command.ts";
import { CLIENT_COMMANDS, findCommand, missingCommand } from "./commands.ts";
import { completions } from "./completions.ts";
import { lineChunks } from "./line-chunks.ts";
import { readInput } from "./options.ts";
import { paramsOf } from "./params.ts";
import { QUERY_COMMAND } from "./query.ts";
import { runClient } from "./run.ts";
import { isBlank, splitStatements } from "./shell/statement-text.ts";

const SIGNATURE = {
  words: ["do"],
  positionals: [{ name: "NAME" }, { name: "MORE", isOptional: true }],
  options: [
    { name: "host", short: "H", value: "URL", help: "", default: "h0", env: ["A_HOST", "B_HOST"] },
    { name: "yes", short: "y", value: null, help: "" },
  ],
};

describe("arguments", () => {
  test.each<[args: string[], environment: Record<string, string>, host: string, yes: boolean, positionals: string[]]>([
    [["n"], {}, "h0", false, ["n"]],
    [["n"], { B_HOST: "b" }, "b", false, ["n"]],
    [["n"], { A_HOST: "", B_HOST: "b" }, "b", false, ["n"]],
    [["n", "-H", "x", "-y"], { A_HOST: "a" }, "x", true, ["n"]],
    [["--host=x=y", "n", "m", "--yes=false"], {}, "x=y", false, ["n", "m"]],
    [["-y", "--", "-n"], {}, "h0", true, ["-n"]],
    [["-"], {}, "h0", false, ["-"]],
  ])("%j", (args, environment, host, yes, positionals) => {
    const input = readInput(SIGNATURE, args, environment);
    expect([input.option("host"), input.flag("yes"), [...input.positionals]]).toEqual([host, yes, positionals]);
  });

  test("the configuration file is behind the environment and before the default", () => {
    expect(readInput(SIGNATURE, ["n"], {}, { host: "c" }).option("host")).toBe("c");
    expect(readInput(SIGNATURE, ["n"], { A_HOST: "a" }, { host: "c" }).option("host")).toBe("a");
  });

  test.each([
    [[], "NAME is missing; tsdb do --help says more"],
    [["a", "b", "c"], 'unexpected argument "c"'],
    [["a", "--hots", "x"], "unknown option --hots; did you mean --host?"],
    [["a", "-z"], "unknown option -z"],
    [["a", "-H"], "-H needs a value: -H URL"],
    [["a", "--yes=maybe"], '--yes must be true or false, got "maybe"'],
  ])("%j: %s", (args, message) => expect(() => readInput(SIGNATURE, args, {}).flag("yes")).toThrow(message));

  test.each([
    [["create"], "create what? database, table, last_cache, distinct_cache, file_index, backup, restore, trigger, token, user"],
    [["create", "databse"], 'cannot create "databse"; did you mean "create database"?'],
    [["frobnicate"], null],
  ])("%j: %p", (args, message) => {
    if (message === null) expect(missingCommand(args)).toBeNull();
    else expect(missingCommand(args)).toStartWith(message);
  });

  test("commands are found by words and short forms", () => {
    expect(findCommand(["q", "x"])?.command.words).toEqual(["query"]);
    expect(findCommand(["create", "token", "--admin"])).toMatchObject({ wordCount: 2 });
    expect(findCommand(["creat"])).toBeUndefined();
  });
});

async function* pieces(bytes: Uint8Array, size: () => number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; ) {
    const end = at + Math.max(1, size());
    yield bytes.subarray(at, end);
    at = end;
  }
}

describe("bodies of lines", () => {
  const LINES = [
    "cpu,host=a v=1 1\n",
    'log text="two\nlines, and a \\" quote" 2\n',
    'odd"name,tag"=quote" v=1 3\n',
    '# a comment with a " in it\n',
    'log a="",b="x=\\"\\n;\n\n",c=1i 4\n',
    "\n",
    'esc\\ aped,t=a\\ b v="\\\\" 5\n',
    "crlf v=1 6\r\n",
    ' \tindented,tag="a,other="b v=1 7\n',
    '  # and a comment="\n',
    'name k\\="x=1 8\n',
  ];

  test.each([1, 2, 3, 4, 5])("are cut between lines only, whatever the pieces, seed %p", async (seed) => {
    const below = prng(seed);
    const lines = Array.from({ length: 400 }, () => LINES[below(LINES.length)]!);
    const bytes = new TextEncoder().encode(lines.join(""));
    const starts = new Map<number, number>();
    let at = 0;
    let number = 1;
    for (const line of lines) {
      starts.set(at, number);
      at += line.length;
      number += line.split("\n").length - 1;
    }
    let position = 0;
    const sizes: number[] = [];
    for await (const chunk of lineChunks(
      pieces(bytes, () => below(50)),
      200,
    )) {
      expect(starts.get(position)).toBe(chunk.firstLine);
      expect(chunk.bytes).toEqual(bytes.slice(position, position + chunk.bytes.length));
      position += chunk.bytes.length;
      sizes.push(chunk.bytes.length);
    }
    expect(position).toBe(bytes.length);
    for (const size of sizes.slice(0, -1)) expect(size).toBeGreaterThanOrEqual(200);
    for (const size of sizes) expect(size).toBeLessThan(200 + 100);
  });

  test("blanks before a line are not the end of its tags: a quote in them begins no string", async () => {
    const bytes = new TextEncoder().encode('  a,t="x v=1\n'.repeat(100));
    const found = await Array.fromAsync(
      lineChunks(
        pieces(bytes, () => 50),
        10,
      ),
    );
    expect(found.map((chunk) => chunk.bytes.length)).toEqual(Array(100).fill(13));
  });

  test("a string that never ends is one body", async () => {
    const bytes = new TextEncoder().encode(`a v="${"x\n".repeat(500)}`);
    const found = await Array.fromAsync(
      lineChunks(
        pieces(bytes, () => 7),
        10,
      ),
    );
    expect(found.map((chunk) => chunk.bytes.length)).toEqual([bytes.length]);
  });
});

test.each<[text: string, statements: string[], rest: string]>([
  ["SELECT 1", [], "SELECT 1"],
  ["SELECT 1; SELECT 2;\n", ["SELECT 1", "SELECT 2"], "\n"],
  ["SELECT ';' , \"a;b\";", ["SELECT ';' , \"a;b\""], ""],
  ["SELECT 'it''s;';x", ["SELECT 'it''s;'"], "x"],
  ["SELECT 1 -- no; end\n;", ["SELECT 1 -- no; end"], ""],
  ["SELECT /* ; */ 1;;", ["SELECT /* ; */ 1"], ""],
  ["SELECT 'open;", [], "SELECT 'open;"],
])("%j is cut into statements", (text, statements, rest) => expect(splitStatements(text)).toEqual({ statements, rest }));

test.each([
  ["", true],
  [" \n\t", true],
  ["-- all of it", true],
  ["-- a\n /* b\n; */ ", true],
  ["/* open", true],
  ["-- a\nb", false],
  ["/* a */ b", false],
  ["''", false],
  ["-", false],
])("%j is blank: %p", (text, wanted) => expect(isBlank(text)).toBe(wanted));

describe("the configuration file", () => {
  const read = (files: Record<string, string>, args: string[], environment: Record<string, string> = {}) =>
    readConfigFile(args, environment, (path) => {
      const text = files[path];
      if (text === undefined) throw new Error(`no such file: ${path}`);
      return text;
    });
  const MACHINE = { processors: 4, memoryBytes: 2 ** 33, readFile: () => "" };

  test("flags go before the environment, this before the file, this before the default", () => {
    const files = {
      "tsdb.toml": 'node-id = "file"\nquery_timeout = "5s"\nquery-workers = 3\nwithout-auth = true\ndisable-authz = ["health", "ping"]',
    };
    const { config } = read(files, []);
    const of = (args: string[], environment: Record<string, string>) => parseServeFlags(args, environment, MACHINE, config);
    expect(of([], {})).toMatchObject({
      nodeId: "file",
      queryTimeoutMs: 5000,
      queryWorkers: 3,
      withoutAuth: true,
      openPages: ["health", "ping"],
    });
    expect(of([], { TSDB_NODE_ID: "env" })).toMatchObject({ nodeId: "env", queryTimeoutMs: 5000 });
    expect(of(["--node-id", "flag"], { TSDB_NODE_ID: "env" })).toMatchObject({ nodeId: "flag", walFlushIntervalMs: 0 });
    expect(() => of(["--node-id="], {})).toThrow("--node-id: must be");
  });

  test("is ./tsdb.toml, or what --config or the environment names", () => {
    const files = { "tsdb.toml": 'node-id = "a"', "b.toml": 'node-id = "b"', "c.toml": '[client]\nhost = "http://c"' };
    expect(read({}, ["serve"])).toEqual({ config: null, args: ["serve"] });
    expect(read(files, ["serve", "--config", "b.toml", "--x"])).toMatchObject({ config: { path: "b.toml" }, args: ["serve", "--x"] });
    expect(read(files, ["query", "--config=c.toml"], { TSDB_CONFIG: "b.toml" })).toMatchObject({
      config: { client: { host: "http://c" } },
      args: ["query"],
    });
    expect(read(files, [], { TSDB_CONFIG: "b.toml" }).config?.path).toBe("b.toml");
  });

  test.each([
    ["node-idd = 1", "tsdb.toml: unknown key node-idd; did you mean node-id?"],
    ["[client]\nhots = 1", "tsdb.toml: unknown key client.hots; did you mean host?"],
    ["client = 1", "tsdb.toml: client must be a table"],
    ["[node-id]\nx = 1", "tsdb.toml: node-id must be a text, a number, true or false"],
    ["node-id = ", "tsdb.toml: "],
  ])("%j: %s", (text, message) => expect(() => read({ "tsdb.toml": text }, [])).toThrow(message));

  test("a file that is named must be there", () => {
    expect(() => read({}, ["--config", "x.toml"])).toThrow("--config: cannot read the file: no such file: x.toml");
    expect(() => read({}, ["--config"])).toThrow("--config needs a value: --config FILE");
  });

  test("a value that cannot be is complained about by its key", () => {
    const { config } = read({ "tsdb.toml": 'query-timeout = "soon"' }, []);
    expect(() => parseServeFlags([], {}, MACHINE, config)).toThrow('tsdb.toml: query-timeout: cannot read "soon"');
  });
});

test.each<[words: string[], expected: string[]]>([
  [["cre"], ["create"]],
  [
    ["create", ""],
    ["database", "table", "last_cache", "distinct_cache", "file_index", "backup", "restore", "trigger", "token", "user"],
  ],
  [["create", "token", "--off"], ["--offline"]],
  [["query", "--form"], ["--format"]],
  [["query", "--dat"], ["--database"]],
  [["q", "--par"], ["--param"]],
  [
    ["query", "--database", "ho"],
    ["home", "house/\\$\\(exit\\)"],
  ],
  [
    ["sql", "-d", ""],
    ["home", "house/\\$\\(exit\\)", "works"],
  ],
  [["query", "SELECT 1", "--form"], ["--format"]],
  [["serve", "--node"], ["--node-id"]],
  [
    ["show", "system", "ta"],
    ["table-list", "table"],
  ],
  [["show", "system", "table", "--ord"], ["--order-by"]],
  [["recovery", "user", "up"], ["update"]],
  [["recovery", "auth", "list", "--da"], ["--data-dir"]],
])("bash completes %j", (words, expected) => {
  const list = ["tsdb", ...words].map((word) => `'${word}'`).join(" ");
  // the program that is asked for names of databases, one of which would like to be run
  const asked = `tsdb() { [[ "$*" == "show databases --format csv" ]] && printf '%s\\n' iox::database home 'house/$(exit)' works; }`;
  const script = `${asked}\n${completions("bash", CLIENT_COMMANDS)}\nCOMP_WORDS=(${list}); COMP_CWORD=${words.length}; _tsdb; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = Bun.spawnSync(["bash", "-c", script]);
  expect([stdout.toString().trim().split("\n"), stderr.toString()]).toEqual([expected, ""]);
});

test("fish completes what follows words when all of them are there", () => {
  const script = completions("fish", CLIENT_COMMANDS).split("\n");
  const after = (...words: string[]) => words.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ");
  expect(script).toContain(`complete -c tsdb -n '${after("show", "system")}' -a 'table-list table summary'`);
  expect(script).toContain(`complete -c tsdb -n '${after("show", "system")}' -l order-by`);
  expect(script.some((line) => line.startsWith(`complete -c tsdb -n '${after("show")}' -a '`))).toBe(true);
  expect(script.some((line) => line.startsWith("complete -c tsdb -n '__fish_use_subcommand' -a 'serve "))).toBe(true);
});

test.each<[params: string[], json: unknown]>([
  [[], {}],
  [["room=hall"], { room: "hall" }],
  [["$room=a=b", "n=3", "f=-1.5e3"], { room: "a=b", n: 3, f: -1500 }],
  [["a=true", "b=false", "c=null", "d=True", "e="], { a: true, b: false, c: null, d: "True", e: "" }],
  [
    ["id=007", "h=0x10", "p=+1", "i=Infinity", "n=NaN", "t=2026-01-01T00:00:00Z"],
    { id: "007", h: "0x10", p: "+1", i: "Infinity", n: "NaN", t: "2026-01-01T00:00:00Z" },
  ],
  [['id="7"', 'q="""', 'o="'], { id: "7", q: '"', o: '"' }],
  [['a="},\n{'], { a: '"},\n{' }],
])("--param %j is %j", (params, json) => {
  const args = params.flatMap((param) => ["--param", param]);
  expect(JSON.parse(paramsOf(readInput(QUERY_COMMAND, args, {})))).toEqual(json);
});

test("--param keeps all digits of a number", () =>
  expect(paramsOf(readInput(QUERY_COMMAND, ["--param", "n=9223372036854775807", "--param=x=1.0"], {}))).toBe(
    '{"n":9223372036854775807,"x":1.0}',
  ));

test.each([
  [["room"], 'write NAME=VALUE, got "room"'],
  [["=x"], "write NAME=VALUE"],
  [["a b=x"], "write NAME=VALUE"],
  [["a=1", "$a=2"], "a is given twice"],
])("--param %j is refused", (params, message) => {
  const args = params.flatMap((param) => ["--param", param]);
  expect(() => paramsOf(readInput(QUERY_COMMAND, args, {}))).toThrow(message);
});

test("another shell is refused", () => expect(() => completions("csh", CLIENT_COMMANDS)).toThrow('unknown shell "csh"'));

describe("exit codes", () => {
  const OPTIONS: Readonly<Record<string, string>> = {
    ...{ database: "d", table: "t", columns: "a=tag", "retention-period": "1d", "node-id": "n", admin: "true", name: "n", yes: "true" },
    ...{ "trigger-spec": "all_tables", "trigger-name": "t", path: import.meta.path, lp: "m v=1" },
    ...{ username: "u", password: "p", "new-password": "n", "display-name": "N", "all-time": "true" },
  };
  // signing out needs a sign-in; completions ask no server, and the shells read this process's own input
  const ASKING = CLIENT_COMMANDS.filter(
    ({ words, options }) =>
      !["sql", "flux", "v2"].includes(words[0]!) && words.join(" ") !== "auth logout" && options.some(({ name }) => name === "host"),
  );

  async function run(command: ClientCommand, args: readonly string[], isOutputTerminal = false) {
    const ran = { out: "", error: "" };
    const decoder = new TextDecoder();
    const terminal: Terminal = {
      out: (text) => {
        ran.out += typeof text === "string" ? text : decoder.decode(text);
        return undefined;
      },
      error: (text) => {
        ran.error += text;
      },
      control: () => {},
      input: () => new Blob(["y\n"]).stream(),
      ...{ isInputTerminal: false, isOutputTerminal, columns: 80, rows: 24, environment: {} },
    };
    return { code: await runClient(command, args, terminal, {}), ...ran };
  }

  const argsOf = ({ positionals, options }: ClientCommand, host: string) => [
    ...positionals
      .filter(({ name }) => name !== "NODE_ID")
      .map(({ name, choices }) => choices?.at(-1) ?? (name === "FILE" ? import.meta.path : "x"))
      .slice(0, 1),
    ...options.filter(({ name }) => Object.hasOwn(OPTIONS, name)).map(({ name }) => `--${name}=${OPTIONS[name]}`),
    `--host=${host}`,
  ];

  test.each(ASKING.map((command) => [command.words.join(" "), command] as const))("%s", async (_, command) => {
    using stranger = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response('{"error":"no"}', { status: 500 }) });
    const host = stranger.url.origin;
    const refused = await run(command, argsOf(command, host));
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.error).toContain(`${command.verb} command failed: server responded with error [500 Internal Server Error]: no\n`);
    await stranger.stop(true);
    const absent = await run(command, argsOf(command, host));
    expect([absent.code, absent.out]).toEqual([1, ""]);
    expect(absent.error).toContain(`${command.verb} command failed: no server at ${host}: `);
    expect(run(command, ["--no-such-option"])).rejects.toMatchObject({ kind: "config" });
  });

  test.each(["parquet", "arrow"])("%s goes to whatever standard output is, but no terminal", async (format) => {
    const file = Uint8Array.of(80, 65, 82, 49);
    using server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response(file) });
    const args = ["-d", "d", "--format", format, "SELECT 1", `--host=${server.url.origin}`];
    // byte by byte: no newline behind it
    expect(await run(QUERY_COMMAND, args)).toEqual({ code: 0, out: "PAR1", error: "" });
    expect(run(QUERY_COMMAND, args, true)).rejects.toThrow(`--format ${format} is not for a terminal: give --output FILE`);
  });
});

test("a full disk behind standard output ends the command with a message", async () => {
  const script = `import { thisTerminal } from ${JSON.stringify(join(import.meta.dir, "run.ts"))};
    await thisTerminal({}).out("rows");
    setInterval(() => {}, 1000); // as a connection that is open`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: Bun.file("/dev/full"), stderr: "pipe", timeout: 10_000 });
  const [text, code] = [await new Response(child.stderr).text(), await child.exited];
  expect([text, code]).toEqual(["tsdb: standard output: ENOSPC: no space left on device, write\n", 1]);
});
