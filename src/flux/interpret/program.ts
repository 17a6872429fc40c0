// A script that was parsed, inferred and compiled, ready to run.
import type { File, Statement } from "../parse/ast.ts";
import { problemText, syntaxProblems } from "../parse/check.ts";
import { parseFile } from "../parse/parser.ts";
import { StreamNode } from "../tables/stream.ts";
import { inferTypes } from "../types/infer.ts";
import type { TypeContext } from "../types/inference-state.ts";
import { FluxError } from "../values/flux-error.ts";
import { regexpError } from "../values/regexp.ts";
import { PackageValue, type Value } from "../values/value.ts";
import type { Code } from "./closure.ts";
import { CodeCompiler, labelOf } from "./compile.ts";
import { CodeScope, Frame } from "./scope.ts";
import type { RunPackages, ScriptRun } from "./script-run.ts";

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

export class FluxProgram {
  private readonly scope = new CodeScope(null);
  private readonly code: readonly Code[];

  /** @param extern files that stand before the script @throws FluxError with all problems of syntax, or else of types */
  static of(text: string, library: ProgramLibrary, extern: readonly File[] = []): FluxProgram {
    const file = parseFile(text, regexpError);
    const problems = syntaxProblems(file);
    if (problems.length > 0) throw new FluxError(`compilation failed: ${problemText(problems)}`);
    return new FluxProgram([...extern, file], library);
  }

  constructor(
    files: readonly File[],
    private readonly library: ProgramLibrary,
  ) {
    const inferred = inferTypes(files, library);
    if (inferred.problems.length > 0) throw new FluxError(problemText(inferred.problems));
    this.code = files.flatMap((file) => this.compiled(file));
  }

  private compiled(file: File): Code[] {
    const imports = new Map(file.imports.map(({ as, path }) => [as?.name ?? this.library.nameOf(path.value)!, path.value]));
    const compiler = new CodeCompiler((name, { run }) =>
      imports.has(name) ? run.importPackage(imports.get(name)!) : this.library.global(name, run),
    );
    return file.body.flatMap((statement) => this.statement(statement, compiler));
  }

  private statement(statement: Statement, compiler: CodeCompiler): Code[] {
    if (statement.type === "VariableAssignment") return [compiler.assignment(statement, this.scope)];
    if (statement.type === "ExpressionStatement") {
      const code = compiler.expression(statement.expression, this.scope);
      return [
        (frame) => {
          const value = code(frame);
          if (value instanceof StreamNode) frame.run.results.push(value);
          return value;
        },
      ];
    }
    if (statement.type === "OptionStatement") return [this.option(statement.assignment, compiler)];
    throw new FluxError(`${statement.type} is not supported in a query`);
  }

  private option(assignment: (Statement & { type: "OptionStatement" })["assignment"], compiler: CodeCompiler): Code {
    if (assignment.type === "VariableAssignment") {
      const { name } = assignment.id;
      const code = compiler.assignment(assignment, this.scope);
      return (frame) => {
        const value = code(frame);
        frame.run.options.set(`universe.${name}`, value);
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

  /** Evaluates the statements. @returns the streams that are results, by their names */
  run(run: ScriptRun): ScriptResult[] {
    const frame = new Frame([], null, run);
    for (const code of this.code) code(frame);
    const results: ScriptResult[] = [];
    const seen = new Set<StreamNode>();
    for (const stream of run.results) {
      if (!(stream instanceof StreamNode)) continue;
      for (const named of yieldsOf(stream, seen)) results.push({ name: named.resultName!, stream: named });
      if (stream.resultName === null) results.push({ name: "_result", stream });
    }
    const names = new Set<string>();
    for (const { name } of results) {
      if (names.has(name)) throw new FluxError(`tried to produce more than one result with the name "${name}"`);
      names.add(name);
    }
    if (results.length === 0) throw new FluxError(NO_RESULT);
    return results;
  }
}

/** Yields within a stream, the inner ones first. */
function* yieldsOf(stream: StreamNode, seen: Set<StreamNode>): Generator<StreamNode> {
  if (seen.has(stream)) return;
  seen.add(stream);
  for (const input of stream.inputs) yield* yieldsOf(input, seen);
  if (stream.resultName !== null) yield stream;
}
