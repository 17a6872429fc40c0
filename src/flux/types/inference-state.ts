// What inference knows while it goes through a tree: names in scopes, errors, and the level of the binding.
import type { Expression, Identifier, SourceLocation } from "../parse/ast.ts";
import { constrain } from "./constrain.ts";
import { instantiate } from "./scheme.ts";
import { placeOf } from "./structure.ts";
import { EMPTY, ERROR, type Kind, type Type, type TypeScheme, variable } from "./type.ts";
import type { TypeIssue } from "./type-errors.ts";
import { TypeWork } from "./type-work.ts";
import { type Report, unify } from "./unify.ts";

/** A package as importers see it. */
export interface PackageTypes {
  /** The name that an import without an alias binds. */
  readonly name: string;
  readonly members: MemberTypes;
}

export interface MemberTypes {
  get(name: string): TypeScheme | undefined;
  entries(): Iterable<readonly [string, TypeScheme]>;
}

export interface TypeContext {
  /** Names that every file sees. */
  readonly prelude: Pick<MemberTypes, "get">;
  /** The package of an import path, or null. */
  importPackage(path: string): PackageTypes | null;
}

export type Binding = { readonly scheme: TypeScheme } | { readonly package: PackageTypes };
export type Scope = Map<string, Binding>;

/** The state of one inference. */
export class InferenceState {
  protected readonly errors: { readonly location: SourceLocation; readonly error: TypeIssue | string }[] = [];
  protected readonly scopes: Scope[] = [new Map()];
  protected readonly undefinedNames = new Map<string, Type>();
  protected level = 0;
  protected readonly work: TypeWork;

  /** @param textLength of all files */
  constructor(
    protected readonly context: TypeContext,
    textLength: number,
  ) {
    this.work = new TypeWork(textLength);
  }

  /** The innermost scope that takes names; imports stand above the file's own. */
  protected get names(): Scope {
    return this.scopes.at(-1)!;
  }

  protected inScope<T>(body: () => T): T {
    this.scopes.push(new Map());
    try {
      return body();
    } finally {
      this.scopes.pop();
    }
  }

  protected lookup(name: string): Binding | null {
    for (let i = this.scopes.length - 1; i >= 0; i--) {
      const found = this.scopes[i]!.get(name);
      if (found !== undefined) return found;
    }
    const scheme = this.context.prelude.get(name);
    return scheme === undefined ? null : { scheme };
  }

  protected identifier({ name, location }: Identifier): Type {
    const bound = this.lookup(name);
    if (bound === null) {
      this.fail(location, `undefined identifier ${name}`);
      let type = this.undefinedNames.get(name);
      if (type === undefined) {
        type = variable(0);
        this.undefinedNames.set(name, type);
      }
      return type;
    }
    return "scheme" in bound ? instantiate(bound.scheme, this.level, this.work) : this.packageRecord(bound.package);
  }

  protected packageRecord({ members }: PackageTypes): Type {
    let record: Type = EMPTY;
    for (const [label, scheme] of members.entries())
      record = { kind: "field", label, type: instantiate(scheme, this.level, this.work), rest: record };
    return record;
  }

  /** Unifies, and gives the expected type, or the error type if that failed. */
  protected equal(expected: Type, actual: Type, at: Expression): Type {
    return unify(expected, actual, this.reportAt(placeOf(at)), this.work) ? expected : ERROR;
  }

  protected constrain(type: Type, kind: Kind, location: SourceLocation): void {
    const error = constrain(type, kind, this.work);
    if (error !== null) this.fail(location, error);
  }

  protected reportAt(location: SourceLocation): Report {
    return (error) => this.fail(location, error);
  }

  protected fail(location: SourceLocation, error: TypeIssue | string): void {
    this.errors.push({ location, error });
  }
}
