// The packages that scripts import: parsed and inferred once in a process, evaluated once in a run.
import type { Code } from "../interpret/closure.ts";
import { CodeCompiler } from "../interpret/compile.ts";
import { CodeScope, Frame } from "../interpret/scope.ts";
import type { RunPackages, ScriptRun } from "../interpret/script-run.ts";
import type { File, Statement } from "../parse/ast.ts";
import { placeText } from "../parse/check.ts";
import { parseFile } from "../parse/parser.ts";
import { inferTypes } from "../types/infer.ts";
import type { PackageTypes, TypeContext } from "../types/inference-state.ts";
import type { TypeScheme } from "../types/type.ts";
import { FluxError } from "../values/flux-error.ts";
import { type Arguments, FluxFunction, PackageValue, type Parameter, type Value } from "../values/value.ts";
import { type LibraryPackage, NativeCall } from "./native-call.ts";

/** Packages whose names every script sees. */
const PRELUDE = ["internal/boolean", "universe", "influxdata/influxdb"];

interface LoadedPackage {
  readonly library: LibraryPackage;
  readonly file: File;
  readonly types: PackageTypes;
  readonly scope: CodeScope;
  readonly code: readonly Code[];
}

export class Library implements RunPackages, TypeContext {
  private readonly packages: ReadonlyMap<string, LibraryPackage>;
  private readonly loaded = new Map<string, LoadedPackage>();
  private knownPrelude: Map<string, TypeScheme> | null = null;

  constructor(packages: readonly LibraryPackage[]) {
    this.packages = new Map(packages.map((each) => [each.path, each]));
  }

  get prelude(): ReadonlyMap<string, TypeScheme> {
    if (this.knownPrelude === null) {
      // packages of the prelude see those before them
      this.knownPrelude = new Map();
      for (const path of PRELUDE) for (const [name, scheme] of this.loadedPackage(path)!.types.members) this.knownPrelude.set(name, scheme);
    }
    return this.knownPrelude;
  }

  importPackage(path: string): PackageTypes | null {
    return this.loadedPackage(path)?.types ?? null;
  }

  get paths(): Iterable<string> {
    return this.packages.keys();
  }

  private loadedPackage(path: string): LoadedPackage | null {
    const known = this.loaded.get(path);
    if (known !== undefined) return known;
    const library = this.packages.get(path);
    if (library === undefined) return null;
    if (!PRELUDE.includes(path)) void this.prelude;
    const file = parseFile(library.source);
    const inferred = inferTypes([file], { prelude: this.knownPrelude ?? new Map(), importPackage: (each) => this.importPackage(each) });
    const [problem] = inferred.problems;
    if (problem !== undefined) throw new Error(`BUG: package ${path} @${placeText(problem.location)}: ${problem.message}`);
    const made: LoadedPackage = {
      library,
      file,
      types: { name: library.name, members: inferred.bindings },
      ...this.compiled(library, file),
    };
    this.loaded.set(path, made);
    return made;
  }

  private compiled(library: LibraryPackage, file: File): Pick<LoadedPackage, "scope" | "code"> {
    const imports = new Map(file.imports.map(({ as, path }) => [as?.name ?? this.packages.get(path.value)!.name, path.value]));
    const compiler = new CodeCompiler(
      (name, { run }) => (imports.has(name) ? run.importPackage(imports.get(name)!) : this.global(name, run)),
      `${library.path}.flux|`,
    );
    const scope = new CodeScope(null);
    const code = file.body.flatMap((statement): Code[] => {
      if (statement.type === "BuiltinStatement") return [this.builtin(library, statement.id.name, scope)];
      const assignment = statement.type === "OptionStatement" ? statement.assignment : statement;
      return assignment.type === "VariableAssignment" ? [compiler.assignment(assignment, scope)] : [];
    });
    return { scope, code };
  }

  private builtin(library: LibraryPackage, name: string, scope: CodeScope): Code {
    const slot = scope.declare(name);
    const native = library.natives[name];
    return (frame) => {
      const value = native === undefined || typeof native === "function" ? this.native(library, name, frame.run) : native.value;
      frame.values[slot] = value;
      return value;
    };
  }

  private native(library: LibraryPackage, name: string, run: ScriptRun): Value {
    return new NativeFunction(name, this.parametersOf(library, name), library, run);
  }

  private parametersOf(library: LibraryPackage, name: string): readonly Parameter[] {
    const type = this.loaded.get(library.path)?.types.members.get(name)?.type;
    if (type?.kind !== "function") return [];
    return [
      ...(type.pipe === null ? [] : [{ name: type.pipe.name, isOptional: false, isPipe: true }]),
      ...[...type.required.keys()].map((each) => ({ name: each, isOptional: false, isPipe: false })),
      ...[...type.optional.keys()].map((each) => ({ name: each, isOptional: true, isPipe: false })),
    ];
  }

  /** A name that neither a script nor its imports bind. */
  global(name: string, run: ScriptRun): Value {
    const option = run.options.get(`universe.${name}`);
    if (option !== undefined) return option;
    for (const path of PRELUDE) {
      const value = run.importPackage(path).get(name);
      if (value !== undefined) return value;
    }
    throw new FluxError(`undefined identifier ${name}`);
  }

  load(path: string, run: ScriptRun): PackageValue {
    const loaded = this.loadedPackage(path);
    if (loaded === null) throw new FluxError(`invalid import path ${path}`);
    const frame = new Frame([], null, run);
    for (const code of loaded.code) code(frame);
    return new LoadedValues(loaded.scope, frame, new Set(loaded.file.body.flatMap(optionName)));
  }

  /** The name that an import of the path binds. */
  nameOf(path: string): string | null {
    return this.packages.get(path)?.name ?? null;
  }
}

/** The names that an option statement of a package binds; `now` and `location` are native, and options too. */
function optionName(statement: Statement): string[] {
  if (statement.type === "BuiltinStatement") return ["now", "location"].includes(statement.id.name) ? [statement.id.name] : [];
  return statement.type === "OptionStatement" && statement.assignment.type === "VariableAssignment" ? [statement.assignment.id.name] : [];
}

/** A package in a run: its options can be set. */
export class LoadedValues extends PackageValue {
  constructor(
    private readonly scope: CodeScope,
    private readonly frame: Frame,
    private readonly options: ReadonlySet<string>,
  ) {
    super(new Map());
  }

  override get(label: string): Value | undefined {
    const found = this.scope.find(label);
    return found === null ? undefined : this.frame.values[found.slot];
  }

  override *entries(): Iterable<readonly [string, Value]> {
    for (const [name, slot] of this.scope.names()) yield [name, this.frame.values[slot]!];
  }

  set(label: string, value: Value): void {
    const found = this.options.has(label) ? this.scope.find(label) : null;
    if (found !== null) this.frame.values[found.slot] = value;
  }
}

class NativeFunction extends FluxFunction {
  override readonly isNative = true;

  constructor(
    name: string,
    parameters: readonly Parameter[],
    private readonly library: LibraryPackage,
    private readonly run: ScriptRun,
  ) {
    super(name, parameters);
  }

  override call(args: Arguments): Value {
    const native = this.library.natives[this.name];
    if (typeof native !== "function") throw new FluxError(`function "${this.library.name}.${this.name}" is not available on this server`);
    return native(new NativeCall(this.run, args));
  }
}
