// A package of the library in this process: types and code of a name are made when a script first uses it.
import type { Code } from "../interpret/closure.ts";
import { CodeCompiler } from "../interpret/compile.ts";
import { ITEM_BYTES } from "../interpret/run-limits.ts";
import { CodeScope, Frame } from "../interpret/scope.ts";
import type { ScriptRun } from "../interpret/script-run.ts";
import type { File, Statement } from "../parse/ast.ts";
import { placeText } from "../parse/check.ts";
import { parseFile } from "../parse/parser.ts";
import { inferTypes } from "../types/infer.ts";
import type { MemberTypes, PackageTypes, TypeContext } from "../types/inference-state.ts";
import { resolve, type Type, type TypeScheme } from "../types/type.ts";
import { typeLine } from "../types/type-text.ts";
import { COLUMN_TYPES, type FluxColumnType } from "../values/column-type.ts";
import { FluxError } from "../values/flux-error.ts";
import { checkLength } from "../values/text.ts";
import {
  type Arguments,
  Bytes,
  Dictionary,
  FluxArray,
  FluxFunction,
  NULL,
  Null,
  PackageValue,
  type Parameter,
  type Value,
} from "../values/value.ts";
import { type LibraryPackage, NativeCall } from "./native-call.ts";
import { type PackageSource, packageSource, type SourceStatement } from "./package-source.ts";

/** What a package takes from the library. */
export interface PackageContext extends TypeContext {
  global(name: string, run: ScriptRun): Value;
  nameOf(path: string): string | null;
}

/** Options without an `option` statement: they are native. */
const NATIVE_OPTIONS: ReadonlySet<string> = new Set(["now", "location"]);
/** Packages and names whose functions compute from their arguments alone. */
const PURE_PACKAGES: ReadonlySet<string> = new Set(["math", "strings", "regexp", "bitwise", "experimental/bitwise"]);
const PURE_NAMES: ReadonlySet<string> = new Set(["bool", "contains", "display", "float", "int", "length", "string", "time", "uint"]);

/** The values and types of one package, computed on demand. */
export class LoadedPackage implements PackageTypes {
  private readonly source: PackageSource;
  private readonly imports: File["imports"];
  private readonly compiler: CodeCompiler;
  private readonly known = new Map<string, LoadedMember>();
  private readonly underWay = new Set<string>();

  constructor(
    readonly library: LibraryPackage,
    /** Packages with the types that `members` has. */
    private readonly context: PackageContext,
  ) {
    this.source = packageSource(library.source);
    this.imports = this.source.imports === "" ? [] : parseFile(this.source.imports).imports;
    const paths = new Map(this.imports.map(({ as, path }) => [as?.name ?? context.nameOf(path.value)!, path.value]));
    const found = (name: string, { run }: Frame) => {
      const own = run.importPackage(library.path).get(name);
      if (own !== undefined) return own;
      return paths.has(name) ? run.importPackage(paths.get(name)!) : context.global(name, run);
    };
    this.compiler = new CodeCompiler(found, { file: `${library.path}.flux|` });
  }

  get name(): string {
    return this.library.name;
  }

  has(name: string): boolean {
    return this.source.statements.has(name);
  }

  get names(): Iterable<string> {
    return this.source.statements.keys();
  }

  /** As other packages of the library see them. */
  readonly members: MemberTypes = {
    get: (name) => this.member(name)?.scheme,
    entries: () => [...this.names].map((name) => [name, this.member(name)!.scheme] as const),
  };

  /** As scripts see the package. */
  get exported(): PackageTypes {
    return { name: this.name, members: this.exportedMembers };
  }

  private readonly exportedMembers: MemberTypes = {
    get: (name) => this.exportedScheme(name),
    entries: () => [...this.names].sort().map((name) => [name, this.exportedScheme(name)!] as const),
  };

  private exportedScheme(name: string): TypeScheme | undefined {
    return this.member(name)?.scheme;
  }

  isOption(name: string): boolean {
    return this.source.statements.get(name)?.isOption === true || (this.library.path === "universe" && NATIVE_OPTIONS.has(name));
  }

  member(name: string): LoadedMember | null {
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const statement = this.source.statements.get(name);
    if (statement === undefined) return null;
    if (this.underWay.has(name)) throw new Error(`BUG: package ${this.library.path}: ${name} needs itself`);
    this.underWay.add(name);
    try {
      const made = this.load(name, statement);
      this.known.set(name, made);
      return made;
    } finally {
      // a script may have used up the stack
      this.underWay.delete(name);
    }
  }

  private load(name: string, { text, linesBefore }: SourceStatement): LoadedMember {
    const file: File = { ...parseFile("\n".repeat(linesBefore) + text), imports: this.imports };
    const inferred = inferTypes([file], {
      prelude: { get: (each) => this.members.get(each) ?? this.context.prelude.get(each) },
      importPackage: (path) => this.context.importPackage(path),
    });
    const [problem] = inferred.problems;
    if (problem !== undefined) throw new Error(`BUG: package ${this.library.path} @${placeText(problem.location)}: ${problem.message}`);
    const scheme = inferred.bindings.get(name)!;
    return { scheme, code: this.codeOf(name, scheme, file.body[0]!) };
  }

  private pureTypeOf(name: string, { type }: TypeScheme): FluxColumnType | null {
    const { path } = this.library;
    if (!PURE_PACKAGES.has(path) && !(path === "universe" && PURE_NAMES.has(name))) return null;
    const result = type.kind === "function" ? resolve(type.result) : type;
    const isColumn = result.kind === "basic" && (COLUMN_TYPES as readonly string[]).includes(result.name);
    return isColumn ? (result.name as FluxColumnType) : null;
  }

  private codeOf(name: string, scheme: TypeScheme, statement: Statement): Code {
    if (statement.type === "BuiltinStatement") {
      const native = this.library.natives[name];
      if (native !== undefined && typeof native !== "function") return () => native.value;
      const signature = { type: scheme.type, parameters: parametersOf(scheme), pureType: this.pureTypeOf(name, scheme) };
      return ({ run }) => new NativeFunction(name, signature, this.library, run);
    }
    const assignment = statement.type === "OptionStatement" ? statement.assignment : statement;
    if (assignment.type !== "VariableAssignment") throw new Error(`BUG: package ${this.library.path}: ${name} is bound by no assignment`);
    return this.compiler.named(assignment.init, new CodeScope(null), name);
  }
}

export interface LoadedMember {
  readonly scheme: TypeScheme;
  readonly code: Code;
}

function parametersOf({ type }: TypeScheme): readonly Parameter[] {
  if (type.kind !== "function") return [];
  return [
    ...(type.pipe === null ? [] : [{ name: type.pipe.name, isOptional: false, isPipe: true }]),
    ...type.required.map(([name]) => ({ name, isOptional: false, isPipe: false })),
    ...type.optional.map(([name]) => ({ name, isOptional: true, isPipe: false })),
  ];
}

/** A package in a run: values are made when they are first used, and options can be set. */
export class LoadedValues extends PackageValue {
  private readonly made = new Map<string, Value>();

  constructor(
    private readonly source: LoadedPackage,
    private readonly run: ScriptRun,
  ) {
    super(new Map());
  }

  override get(label: string): Value | undefined {
    const known = this.made.get(label);
    if (known !== undefined) return known;
    const member = this.source.member(label);
    if (member === null) return undefined;
    const value = member.code(new Frame([], null, this.run));
    this.made.set(label, value);
    return value;
  }

  override *entries(): Iterable<readonly [string, Value]> {
    for (const name of this.source.names) yield [name, this.get(name)!];
  }

  override labels(): Iterable<string> {
    return this.source.names;
  }

  override values(): Value[] {
    return [...this.source.names].map((name) => this.get(name)!);
  }

  set(label: string, value: Value): void {
    if (!this.source.isOption(label)) return;
    this.made.set(label, value);
    this.run.options.set(this.source.library.path, label, value);
  }
}

interface Signature {
  readonly type: Type;
  readonly parameters: readonly Parameter[];
  readonly pureType: FluxColumnType | null;
}

/** Streams and numbers cost nothing. @throws FluxError: the text is too long, or the script has made too much */
function chargeFor(made: Value, { use }: ScriptRun): void {
  if (typeof made === "string") {
    checkLength(made.length);
    use.charge(made.length);
  } else if (made instanceof FluxArray) use.charge(made.items.length * ITEM_BYTES);
  else if (made instanceof Bytes) use.charge(made.bytes.length);
  else if (made instanceof Dictionary) use.charge(made.items.size * 4 * ITEM_BYTES);
}

class NativeFunction extends FluxFunction {
  override readonly isNative = true;
  override readonly pureType: FluxColumnType | null;

  constructor(
    name: string,
    private readonly signature: Signature,
    private readonly library: LibraryPackage,
    private readonly run: ScriptRun,
  ) {
    super(name, signature.parameters);
    this.pureType = signature.pureType;
  }

  override get typeText(): string {
    return typeLine(this.signature.type);
  }

  override call(args: Arguments): Value {
    const native = this.library.natives[this.name];
    if (typeof native !== "function") throw new FluxError(`function "${this.library.name}.${this.name}" is not available on this server`);
    let given = args;
    for (const [name, value] of args) {
      if (typeof value === "string") this.run.use.workOn(value.length);
      else if (value instanceof Null && value.isComputed) given = new Map(given).set(name, NULL);
    }
    const made = native(new NativeCall(this.run, given, this.name));
    chargeFor(made, this.run);
    return made;
  }
}
