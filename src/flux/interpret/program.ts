// A script that was parsed, inferred and compiled, ready to run.
import type { File, Statement } from "../parse/ast.ts";
import { problemText, syntaxErrorText, syntaxProblems } from "../parse/check.ts";
import { parseFile } from "../parse/parser.ts";
import { StreamNode } from "../tables/stream.ts";
import { inferTypes } from "../types/infer.ts";
import type { TypeContext } from "../types/inference-state.ts";
import { FluxError, UnplacedError } from "../values/flux-error.ts";
import { regexpError } from "../values/regexp.ts";
import { PackageValue, type Value } from "../values/value.ts";
import type { Code } from "./closure.ts";
import { CodeCompiler } from "./compile.ts";
import { labelOf } from "./labels.ts";
import { CodeScope, Frame } from "./scope.ts";
import type { RunPackages, ScriptRun } from "./script-run.ts";
import type { TimeLiterals } from "./time-literals.ts";

/** The library as programs see it. */
export interface ProgramLibrary extends TypeContext, RunPackages {
  global(name: string, run: ScriptRun): Value;
  nameOf(path: string): string | null;
}

export interface ScriptResult {
  readonly name: string;
  readonly stream: StreamNode;
}

const NO_RESULT =
  "error in query specification while starting program: this Flux script returns no streaming data. " +
  'Consider adding a "yield" or invoking streaming functions directly, without performing an assignment';

/** Packages with options that can be set from outside. */
interface WithOptions {
  set(label: string, value: Value): void;
}

/** A compiled script. It may run any number of times. */
export interface Program {
  /** Evaluates the statements. @returns the streams that are results, by their names */
  run(run: ScriptRun): ScriptResult[];
}

/** The code of a script. */
export class FluxProgram implements Program {
  private readonly scope = new CodeScope(null);
  private readonly code: readonly Code[];

  /** The tree of a text, with a pause before it is checked. @throws FluxError with all problems of syntax */
  static *parse(text: string): Generator<null, File, void> {
    const file = parseFile(text, regexpError);
    yield null;
    const problems = syntaxProblems(file);
    if (problems.length > 0) throw new FluxError(syntaxErrorText(problems));
    return file;
  }

  /** The program of these files, with a pause between its types and its code. @throws FluxError with all problems of types */
  static *inSteps(files: readonly File[], library: ProgramLibrary, times: TimeLiterals | null): Generator<null, FluxProgram, void> {
    const inferred = inferTypes(files, library);
    if (inferred.problems.length > 0) throw new FluxError(problemText(inferred.problems));
    yield null;
    return new FluxProgram(files, library, times);
  }

  /** @param times of the only file @param files without problems */
  private constructor(
    files: readonly File[],
    private readonly library: ProgramLibrary,
    private readonly times: TimeLiterals | null,
  ) {
    this.code = files.flatMap((file) => this.compiled(file));
  }

  private compiled(file: File): Code[] {
    const imports = new Map(file.imports.map(({ as, path }) => [as?.name ?? this.library.nameOf(path.value)!, path.value]));
    const builtins = new Set(file.body.flatMap((each) => (each.type === "BuiltinStatement" ? [each.id.name] : [])));
    const compiler = new CodeCompiler(
      (name, { run }) => {
        if (builtins.has(name)) throw new UnplacedError(`undefined identifier {${JSON.stringify(name)} "main"}`);
        return imports.has(name) ? run.importPackage(imports.get(name)!) : this.library.global(name, run);
      },
      { times: this.times },
    );
    // as recorded: only what belongs to the main package gives results
    const isMain = file.package === null || file.package.name.name === "main";
    return file.body.flatMap((statement) => this.statement(statement, compiler, isMain));
  }

  private statement(statement: Statement, compiler: CodeCompiler, isMain: boolean): Code[] {
    if (statement.type === "VariableAssignment") return [compiler.assignment(statement, this.scope)];
    if (statement.type === "ExpressionStatement") {
      const code = compiler.expression(statement.expression, this.scope);
      return [
        (frame) => {
          const value = code(frame);
          if (isMain && value instanceof StreamNode) frame.run.results.push(value);
          return value;
        },
      ];
    }
    if (statement.type === "OptionStatement") return [this.option(statement.assignment, compiler)];
    // a type for a name: using it is an error
    if (statement.type === "BuiltinStatement") return [];
    throw new FluxError(`${statement.type} is not supported in a query`);
  }

  private option(assignment: (Statement & { type: "OptionStatement" })["assignment"], compiler: CodeCompiler): Code {
    if (assignment.type === "VariableAssignment") {
      const { name } = assignment.id;
      const code = compiler.assignment(assignment, this.scope);
      return (frame) => {
        const value = code(frame);
        frame.run.options.set("universe", name, value);
        (frame.run.importPackage("universe") as PackageValue & WithOptions).set(name, value);
        return value;
      };
    }
    const target = compiler.expression(assignment.member.object, this.scope);
    const init = compiler.expression(assignment.init, this.scope);
    const label = labelOf(assignment.member.property);
    return (frame) => {
      const value = init(frame);
      const found = target(frame);
      if (found instanceof PackageValue) (found as PackageValue & WithOptions).set(label, value);
      return value;
    };
  }

  /** The program of another script, which differs in times alone; null: it differs in more. */
  withTimesOf(text: string): Program | null {
    const times = this.times?.valuesIn(text) ?? null;
    if (times === null) return null;
    return {
      run: (run) => {
        run.times = times;
        return this.run(run);
      },
    };
  }

  run(run: ScriptRun): ScriptResult[] {
    const frame = new Frame([], null, run);
    for (const code of this.code) code(frame);
    const results: ScriptResult[] = [];
    const seen = new OperatorNumbers();
    for (const stream of run.results) {
      if (!(stream instanceof StreamNode)) continue;
      addYields(stream, seen, results);
      if (stream.resultName === null) results.push({ name: nameOf(stream, seen), stream });
    }
    // what writes is done even if nobody asked for its tables
    const read = new Set(run.effects.flatMap((stream) => (stream instanceof StreamNode ? stream.inputs : [])));
    for (const stream of run.effects) {
      if (!(stream instanceof StreamNode) || seen.has(stream) || read.has(stream)) continue;
      addYields(stream, seen, results);
      results.push({ name: nameOf(stream, seen), stream });
    }
    const names = new Set<string>();
    for (const { name } of results) {
      if (names.has(name)) throw new FluxError(doubleName(name, results));
      names.add(name);
    }
    if (results.length === 0) throw new FluxError(NO_RESULT);
    return results;
  }
}

/** The operators of a plan that were seen, with their numbers in its order. */
class OperatorNumbers {
  private readonly numbers = new Map<StreamNode, number>();
  private count = 0;

  has(stream: StreamNode): boolean {
    return this.numbers.has(stream);
  }

  /** Without a number yet. */
  add(stream: StreamNode): void {
    this.numbers.set(stream, -1);
  }

  number(stream: StreamNode): void {
    this.numbers.set(stream, this.count++);
  }

  get(stream: StreamNode): number | undefined {
    return this.numbers.get(stream);
  }
}

/** Adds the yields within a stream, the inner ones first. */
function addYields(stream: StreamNode, seen: OperatorNumbers, results: ScriptResult[]): void {
  if (seen.has(stream)) return;
  seen.add(stream);
  for (const input of stream.inputs) addYields(input, seen, results);
  if (!stream.isInner) seen.number(stream);
  if (stream.resultName !== null) results.push({ name: stream.resultName, stream });
}

function doubleName(name: string, results: readonly ScriptResult[]): string {
  const yields = results.filter((result) => result.name === name && result.stream.resultName !== null);
  return yields.length > 1
    ? `error in building plan while starting program: found more than one call to yield() with the name "${name}"`
    : `failed to initialize execute state: tried to produce more than one result with the name "${name}"`;
}

/** A result that writes has the name of its operator and its number. */
function nameOf(stream: StreamNode, seen: OperatorNumbers): string {
  return stream.effect === null ? "_result" : `${stream.effect}${seen.get(stream)}`;
}
