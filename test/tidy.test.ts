// Habits that a machine can see: which folder imports which, line and file lengths, leftovers, paths of one machine, a stale wasm/.
// Each check collects every offence before it fails, so that one run shows the whole list.
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isWasmRecorded } from "../src/tools/build-wasm.ts";

const ROOT = join(import.meta.dir, "..");
const LINE_LENGTH_MAX = 140;
const FILE_LINES_MAX = 450;
const FOLDER_FILES_MAX = 25;
const README_LINES_MAX = 60;
/** A folder with fewer files of code is described by the README above it. */
const README_FILES_MIN = 5;
const ARCHITECTURE_LINES_MAX = 120;
const GLOSSARY_TERMS_MAX = 40;

/** Imports point down: a folder of src/ imports its own files and those of layers above it in this list. What lies deeper than a layer's
 *  name belongs to it, unless it has a layer of its own. */
const LAYERS: readonly (readonly string[])[] = [
  ["model"],
  ["kernel", "duckdb", "encode", "disk", "outgoing", "profiles", "tsdbql/parse"],
  ["object-store", "sql", "tsdbql/regex", "tsdbql/functions", "storage/wal", "storage/buffer", "storage/block"],
  ["tsdbql/plan", "flux", "storage/paths.ts", "storage/catalog", "storage/manifest"],
  ["auth", "ingest", "metadata", "tasks/script", "storage/pt"],
  ["storage/flush", "storage/file-index", "alerts", "accounts"],
  ["storage/block-cache", "storage/compaction"],
  ["scan", "backup", "imports", "templates"],
  ["caches", "tsdbql/execute", "plugins", "export"],
  ["query", "api", "triggers"],
  ["replications"],
  ["workers", "tools", "cli", "scrapers", "tasks"],
  ["server"],
  ["program.ts"],
  ["main.ts"],
];

const RANK: ReadonlyMap<string, number> = new Map(LAYERS.flatMap((names, rank) => names.map((name) => [name, rank] as const)));

/** Files outside src/ that code in src/ may import, and who may. */
const OUTSIDE: Readonly<Record<string, (importer: string) => boolean>> = {
  // both compilers read it; the kernel alone knows the layout, and the precision numbers are the parser's
  "assembly/abi.ts": (importer) => importer.startsWith("src/kernel/") || importer === "src/model/time/precision.ts",
  "wasm/tsdb.wasm": (importer) => importer === "src/kernel/memory/kernel.ts",
  "package.json": (importer) => !importer.startsWith("src/model/"),
};

const NOT_OURS = new Set([".git", "node_modules", "dist", ".tsdb", "golden"]);
const CODE = /\.(ts|mjs|js)$/;
const TEXT = /(\.(ts|mjs|js|json|md|toml|yml|yaml|html|css|sh)|Dockerfile|\.ci\/run|\.dockerignore|\.gitignore)$/;

const files = list(ROOT).map((path) => ({ path, text: readFileSync(join(ROOT, path), "utf8") }));
const code = files.filter(({ path }) => CODE.test(path));

function list(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : list(path);
      return entry.isFile() && TEXT.test(path) ? [relative(ROOT, path)] : [];
    })
    .sort();
}

/** Paths that a file imports from this repository, relative to its root. Workers are started by `new URL("./x.ts", import.meta.url)`. */
export function importsOf(path: string, text: string): string[] {
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*|\bnew URL\(\s*)"(\.{1,2}\/[^"]+)"/g);
  return [...found].map(([, target]) => join(dirname(path), target!));
}

/** Groups of files that import each other, directly or by way of others (Tarjan's strongly connected components). */
export function cyclesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];
  const visit = (path: string) => {
    order.set(path, order.size);
    low.set(path, order.get(path)!);
    stack.push(path);
    for (const next of imports.get(path) ?? []) {
      if (!imports.has(next)) continue;
      if (!order.has(next)) visit(next);
      // what is no longer on the stack belongs to a cycle that is closed
      if (stack.includes(next)) low.set(path, Math.min(low.get(path)!, low.get(next)!));
    }
    if (low.get(path) !== order.get(path)) return;
    const members = stack.splice(stack.lastIndexOf(path));
    if (members.length > 1) cycles.push(members.sort());
  };
  for (const path of imports.keys()) if (!order.has(path)) visit(path);
  return cycles;
}

/** `src/storage/wal/segment.ts` → `storage/wal`; `src/main.ts` → `main.ts`; a folder without a layer → its name; outside src/ →
 *  undefined. */
function layerOf(path: string): string | undefined {
  if (!path.startsWith("src/")) return undefined;
  const parts = path.split("/").slice(1);
  const names = parts.map((_, i) => parts.slice(0, parts.length - i).join("/"));
  return names.find((name) => RANK.has(name)) ?? parts[0];
}

/** The text with comments kept and the contents of strings and templates taken out, line breaks left in: messages and golden texts are as
 *  long as they are. */
export function withoutLiterals(text: string): string {
  const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/g;
  return text.replace(token, (found) => (found.startsWith("/") ? found : found.replace(/[^\n]+/g, "")));
}

const REGEXP_ALONE = /^\s*\/[^/*].*\/[a-z]*[,;]?$/;

/** Words of the project's past that readers from the field do not know, and the words to use. */
const REPLACED_WORDS: readonly (readonly [word: RegExp, better: string])[] = [
  [/\bupkeep\b/i, "background jobs"],
  [/\bgate(s|keeper)?\b/i, "auth, authorizer"],
  [/\bTablePieces\b/, "table reader, row ranges"],
  [/\bkeepers?\b|\bKeptCache\b/i, "cache manager, materialized cache"],
  [/\blate (values?|statements?|conditions?)\b|"LATE"/, "parameter dependency, deferred value"],
  [/\bstraight (plan|statement)/i, "direct scan"],
  [/\b(the|a) guards?\b/i, "cost limits"],
  [/\bin doubt\b|\bdoubtful\b|\ba doubt\b/i, "overlap ranges; may be a duplicate"],
  [/\bingest lanes?\b/i, "ingest worker, job"],
  [/\btouched (tables?|databases?|permissions)\b/i, "required permissions"],
  [/\bown tables\b/i, "virtual tables"],
  [/\b(call|the|every|same|other) roads?\b/i, "call pipeline, write path, read path"],
  [/\bvalue choices?\b/i, "index lookup"],
  [/\babsorb(s|ed|ing)?\b/i, "predicate pushdown"],
  [/\bthis node\b|\bnamed services\b/i, "node service, admin services"],
  [/\bstor(y|ies)\b/i, "scenario"],
  [/\bwhoever\b|\bsomebody\b|\bsomeone\b/i, "the client, the caller, the user"],
  [/\bones? that\b/i, "the noun"],
  [/\bthat (is|are) none\b/i, "invalid, missing"],
  [/\bwhat is of\b|\blest\b|\bnothing at all\b|\bis there is not\b/i, "a statement"],
  [/\bgot \S+ and perhaps more\b/i, "expected N, got at least M"],
];

/** `src/a/b` → `src/a`, `src` */
function foldersAbove(folder: string): string[] {
  const parts = folder.split("/");
  return parts.slice(1).map((_, i) => parts.slice(0, parts.length - 1 - i).join("/"));
}

/** Names of exported functions and classes that no docstring precedes; of an overloaded function the first signature counts. */
function undocumented(text: string): string[] {
  const lines = text.split("\n");
  return lines.flatMap((line, at) => {
    const name = /^export (?:default )?(?:async )?(?:abstract )?(?:function\*?|class) (\w+)/.exec(line)?.[1];
    if (name === undefined) return [];
    let before = at - 1;
    while (/^(@|\/\/ (@ts|biome))/.test(lines[before] ?? "") || lines[before]?.startsWith(`export function ${name}(`)) before--;
    return /\*\/\s*$/.test(lines[before] ?? "") ? [] : [name];
  });
}

/** Relative targets of the links of a page in Markdown, outside its code. */
function linksOf(text: string): string[] {
  const prose = text.replace(/^```[\s\S]*?^```$/gm, "").replace(/`[^`\n]*`/g, "");
  return [...prose.matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, target]) => target!);
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(text: string): string[] {
  const headings = text.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

const isTest = (path: string) => /\.test\.ts$/.test(path) || path.startsWith("test/");

/** Why `importer` must not import `imported`, or undefined when it may. */
export function importOffence(importer: string, imported: string): string | undefined {
  // tests reach for what they compare with; benches are consumers of everything
  if (isTest(importer) || importer.startsWith("bench/")) return undefined;
  if (importer.startsWith("assembly/")) return imported.startsWith("assembly/") ? undefined : "assembly/ imports nothing outside itself";
  const own = layerOf(importer);
  if (own === undefined) return undefined;
  const other = layerOf(imported);
  if (other === undefined) return OUTSIDE[imported]?.(importer) ? undefined : `src/ does not import ${imported} here`;
  if (own === other) return isTest(imported) ? "code does not import tests" : undefined;
  const [rank, otherRank] = [RANK.get(own), RANK.get(other)];
  if (rank === undefined) return `src/${own} has no layer: give it one in test/tidy.test.ts`;
  if (otherRank === undefined) return undefined; // src/files.d.ts and the like
  return otherRank < rank ? undefined : `layer ${rank} imports layer ${otherRank}`;
}

describe("import layers", () => {
  test("imports point down", () => {
    const offences = code.flatMap(({ path, text }) =>
      importsOf(path, text).flatMap((imported) => {
        const offence = importOffence(path, imported);
        return offence === undefined ? [] : [`${path} -> ${imported}: ${offence}`];
      }),
    );
    expect(offences).toEqual([]);
  });

  test("no files import each other in a circle, types included", () => {
    const sources = code.filter(({ path }) => /^(src|assembly)\//.test(path) && !isTest(path));
    // assembly/ leaves out the ending
    const withEnding = (path: string) => (path.startsWith("assembly/") && !path.endsWith(".ts") ? `${path}.ts` : path);
    const imports = new Map(sources.map(({ path, text }) => [path, importsOf(path, text).map(withEnding)]));
    expect(cyclesOf(imports)).toEqual([]);
  });

  test("circles are found", () => {
    const graph = { a: ["b", "d"], b: ["c"], c: ["a", "d"], d: ["e"], e: [], f: ["g", "a"], g: ["f"] };
    expect(cyclesOf(new Map(Object.entries(graph)))).toEqual([
      ["a", "b", "c"],
      ["f", "g"],
    ]);
  });

  // they would cost each start a third more processor time: query workers load them while main loads its own modules
  test("the main thread loads neither DuckDB nor the rewriting of SQL", () => {
    const loads = /^import\s+(?!type\b)[^;]*?"(\.{1,2}\/[^"]+)"/gm;
    const texts = new Map(code.map(({ path, text }) => [path, text]));
    const loaded = new Set(["src/program.ts", "src/server/server.ts"]);
    for (const path of loaded) {
      for (const [, target] of (texts.get(path) ?? "").matchAll(loads)) loaded.add(join(dirname(path), target!));
    }
    expect(loaded.size).toBeGreaterThan(200);
    expect([...loaded].filter((path) => /^src\/(duckdb|sql\/(rewrite|execute|plan))\//.test(path))).toEqual([]);
  });

  // the rule itself, so that a slip in it does not pass for tidiness
  test.each([
    ["src/storage/wal/wal.ts", "src/disk/disk.ts", true],
    ["src/storage/wal/wal.ts", "src/storage/wal/segment.ts", true],
    ["src/storage/wal/wal.ts", "src/storage/catalog/catalog.ts", false],
    ["src/model/rows/run.ts", "src/kernel/memory/kernel.ts", false],
    ["src/api/v3/write.ts", "src/ingest/ingest.ts", true],
    ["src/api/v3/write.ts", "src/main.ts", false],
    ["src/main.ts", "src/api/app.ts", true],
    ["src/storage/wal/wal.ts", "assembly/abi.ts", false],
    ["src/kernel/memory/kernel.ts", "assembly/abi.ts", true],
    ["src/storage/wal/wal.ts", "test/support/prng.ts", false],
    ["src/storage/wal/wal.test.ts", "test/support/prng.ts", true],
    ["assembly/line/line.ts", "src/model/rows/run.ts", false],
  ] as const)("%s -> %s: %p", (importer, imported, allowed) => {
    expect(importOffence(importer, imported) === undefined).toBe(allowed);
  });

  test("every form of import is seen", () => {
    const text = [
      'import a from "../disk/a.ts";',
      'export * from "./b.ts";',
      'const c = await import("../c.ts");',
      'import "./d.ts";',
      'import {\n  e,\n} from "./e.ts";',
      'new Worker(new URL("./f.ts", import.meta.url).href);',
      'import g from "g";',
    ].join("\n");
    expect(importsOf("src/wal/x.ts", text)).toEqual([
      ...["src/disk/a.ts", "src/wal/b.ts", "src/c.ts", "src/wal/d.ts", "src/wal/e.ts", "src/wal/f.ts"],
    ]);
  });
});

describe("names", () => {
  test("a class of src/ has a name of its own", () => {
    const declared = code
      .filter(({ path }) => path.startsWith("src/") && !isTest(path))
      .flatMap(({ path, text }) => [...text.matchAll(/^export (?:abstract )?class (\w+)/gm)].map(([, name]) => ({ path, name: name! })));
    const byName = Map.groupBy(declared, ({ name }) => name);
    const twins = [...byName]
      .filter(([, all]) => all.length > 1)
      .map(([name, all]) => `${name}: ${all.map(({ path }) => path).join(", ")}`);
    expect(twins).toEqual([]);
  });

  test(`a folder of src/ or assembly/ has at most ${FOLDER_FILES_MAX} files of code`, () => {
    const folders = Map.groupBy(
      code.filter(({ path }) => /^(src|assembly)\//.test(path)),
      ({ path }) => dirname(path),
    );
    const large = [...folders].filter(([, all]) => all.length > FOLDER_FILES_MAX).map(([folder, all]) => `${folder}: ${all.length}`);
    expect(large).toEqual([]);
  });
});

describe("pages for readers", () => {
  const pages = files.filter(({ path }) => /^(src|assembly|bench|test)\/.*README\.md$/.test(path));
  const page = (folder: string) => pages.find(({ path }) => path === join(folder, "README.md"));
  const lines = (text: string) => text.trimEnd().split("\n").length;

  test(`a README of src/ or assembly/ has at most ${README_LINES_MAX} lines`, () => {
    const long = pages.filter(({ path, text }) => /^(src|assembly)\//.test(path) && lines(text) > README_LINES_MAX);
    expect(long.map(({ path, text }) => `${path}: ${lines(text)}`)).toEqual([]);
  });

  test(`a folder of src/ with ${README_FILES_MIN} files has a README, a smaller one is named in that of a folder above it`, () => {
    const sources = files.filter(({ path }) => /^src\/.*\.(ts|py)$/.test(path) && !isTest(path));
    const folders = Map.groupBy(sources, ({ path }) => dirname(path));
    const without = [...folders].flatMap(([folder, all]) => {
      if (folder === "src" || page(folder) !== undefined) return [];
      if (all.length >= README_FILES_MIN) return [`${folder} has no README.md`];
      const above = foldersAbove(folder).find((each) => page(each) !== undefined);
      const isNamed = above !== undefined && page(above)!.text.includes(`${basename(folder)}/\``);
      return isNamed ? [] : [`${folder} is named in no README.md`];
    });
    expect(without).toEqual([]);
  });

  test("links between pages lead somewhere", () => {
    const markdown = files.filter(({ path }) => path.endsWith(".md"));
    const broken = markdown.flatMap(({ path, text }) =>
      linksOf(text).flatMap((link) => {
        const [target, anchor] = link.split("#") as [string, string?];
        const file = target === "" ? path : join(dirname(path), target);
        if (!existsSync(join(ROOT, file))) return [`${path}: ${link}`];
        const headings = anchor === undefined ? [] : anchorsOf(readFileSync(join(ROOT, file), "utf8"));
        return anchor === undefined || headings.includes(anchor) ? [] : [`${path}: ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  test("ARCHITECTURE.md is a page that names all folders, and GLOSSARY.md has few terms", () => {
    const textOf = (path: string) => files.find((file) => file.path === path)!.text;
    const architecture = textOf("src/ARCHITECTURE.md");
    expect(lines(architecture)).toBeLessThanOrEqual(ARCHITECTURE_LINES_MAX);
    const folders = new Set(files.flatMap(({ path }) => /^src\/([\w-]+)\//.exec(path)?.[1] ?? []));
    expect([...folders].filter((folder) => !architecture.includes(`\`${folder}/\``))).toEqual([]);
    const terms = textOf("src/GLOSSARY.md").match(/^\| (?!term|---)/gm) ?? [];
    expect(terms.length).toBeLessThanOrEqual(GLOSSARY_TERMS_MAX);
  });
});

describe("text", () => {
  /** `path:line: text` of every line that matches. */
  function matching(pattern: RegExp, where: (path: string) => boolean = () => true): string[] {
    return files
      .filter(({ path }) => where(path))
      .flatMap(({ path, text }) =>
        text.split("\n").flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 100)}`] : [])),
      );
  }

  test(`lines have at most ${LINE_LENGTH_MAX} characters beside the text of literals`, () => {
    const long = code.flatMap(({ path, text }) =>
      withoutLiterals(text)
        .split("\n")
        .flatMap((line, i) =>
          line.length > LINE_LENGTH_MAX && !REGEXP_ALONE.test(line) ? [`${path}:${i + 1}: ${line.trim().slice(0, 100)}`] : [],
        ),
    );
    expect(long).toEqual([]);
  });

  // a text of a row that begins with the mark would lose it
  test("every decoder of the server says what it does with a byte order mark", () => {
    const isServer = (path: string) => path.startsWith("src/") && path.endsWith(".ts") && !path.endsWith(".test.ts");
    expect(matching(/new TextDecoder\((?!.*ignoreBOM)/, isServer)).toEqual([]);
  });

  test(`files have at most ${FILE_LINES_MAX} lines`, () => {
    const long = code.map(({ path, text }) => ({ path, lineCount: text.trimEnd().split("\n").length }));
    expect(long.filter(({ lineCount }) => lineCount > FILE_LINES_MAX)).toEqual([]);
  });

  test("every exported function and class has a docstring", () => {
    const bare = code
      .filter(({ path }) => /^(src|assembly|bench|test)\//.test(path) && !path.endsWith(".test.ts"))
      .flatMap(({ path, text }) => undocumented(text).map((name) => `${path}: ${name}`));
    expect(bare).toEqual([]);
  });

  test("an export without a docstring is found", () => {
    const text = [
      "/** Documented. */\n// @ts-ignore: decorator\n@inline\nexport function a(): void {}",
      "/** One of two signatures. */\nexport function b(x: string): void;\nexport function b(x: number): void {}",
      "// not a docstring\nexport async function* c(): void {}",
      "export abstract class D {}\nfunction e(): void {}",
    ].join("\n\n");
    expect(undocumented(text)).toEqual(["c", "D"]);
  });

  test("every file of code opens with a comment on what it is for", () => {
    const bare = code.filter(({ path, text }) => /^(src|assembly|bench|test)\//.test(path) && !/^(#!.*\n)?\s*(\/\/|\/\*)/.test(text));
    expect(bare.map(({ path }) => path)).toEqual([]);
  });

  const notThisFile = (path: string) => path !== "test/tidy.test.ts";

  test.each(REPLACED_WORDS)("no %p, but: %s", (word) => {
    expect(matching(word, notThisFile)).toEqual([]);
  });

  test("no TODO or FIXME is left", () => {
    expect(matching(/\b(FIXME|TODO|XXX)\b/, notThisFile)).toEqual([]);
  });

  test("no test is switched off", () => {
    expect(matching(/\b(test|it|describe)\.(skip|skipIf|only|todo|todoIf)\b/, (path) => notThisFile(path) && isTest(path))).toEqual([]);
  });

  test("no path of one machine, no host of a package registry", () => {
    const folder = /(^|["'`\s=(:])\/(work|root|home\/\w+|Users\/\w+|tmp\/bun)(\/|\b["'`\s])/;
    const registry = /\b(registry|npm)\.[\w.-]+\.(org|com|io|net|dev)\b|"resolved":/;
    expect(matching(new RegExp(`${folder.source}|${registry.source}`), notThisFile)).toEqual([]);
  });
});

/** What a newcomer sees first. */
const AT_THE_ROOT = new Set([
  ...[".dockerignore", ".gitattributes", ".gitignore", "Dockerfile", "LICENSE", "README.md", "SECURITY.md"],
  ...["biome.json", "bunfig.toml", "exec.cmd", "package-lock.json", "package.json", "tsconfig.json"],
]);

test("nothing is committed at the root beside what belongs there", () => {
  const { stdout } = Bun.spawnSync(["git", "ls-files", "-z", "--", ":(glob)*"], { cwd: ROOT });
  const tracked = stdout.toString().split("\0").filter(Boolean);
  expect(tracked.filter((path) => !AT_THE_ROOT.has(path))).toEqual([]);
});

// wasm.full.test.ts compiles it again
test("wasm/ was compiled from assembly/ as it is", () => {
  expect(isWasmRecorded(), "run `npm run build:wasm` and commit wasm/").toBe(true);
});
