// The packages that scripts import. What a script does not use of them costs nothing.
import type { RunPackages, ScriptRun } from "../interpret/script-run.ts";
import type { PackageTypes, TypeContext } from "../types/inference-state.ts";
import type { TypeScheme } from "../types/type.ts";
import { FluxError } from "../values/flux-error.ts";
import type { PackageValue, Value } from "../values/value.ts";
import { LoadedPackage, LoadedValues, type PackageContext } from "./loaded-package.ts";
import type { LibraryPackage } from "./native-call.ts";

/** Packages whose names every script sees; of a name that several have, the last one's. */
const PRELUDE = ["influxdata/influxdb", "universe", "internal/boolean"];

/** All packages of one thread, by their paths. */
export class Library implements RunPackages, TypeContext {
  private readonly packages: ReadonlyMap<string, LibraryPackage>;
  private readonly loaded = new Map<string, LoadedPackage>();
  /** By name: where the prelude has it. */
  private readonly preludePaths = new Map<string, string>();

  constructor(packages: readonly LibraryPackage[]) {
    this.packages = new Map(packages.map((each) => [each.path, each]));
  }

  readonly prelude = { get: (name: string) => this.preludeScheme(name, "exported"), names: () => this.preludeNames() };

  /** What the packages see of each other. */
  private readonly inner: PackageContext = {
    prelude: { get: (name) => this.preludeScheme(name, "inner") },
    importPackage: (path) => this.loadedPackage(path),
    global: (name, run) => this.global(name, run),
    nameOf: (path) => this.nameOf(path),
  };

  private preludeScheme(name: string, seen: "inner" | "exported"): TypeScheme | undefined {
    for (const path of PRELUDE) {
      const loaded = this.loadedPackage(path);
      const scheme = (seen === "inner" ? loaded : loaded?.exported)?.members.get(name);
      if (scheme !== undefined) return scheme;
    }
    return undefined;
  }

  private *preludeNames(): Generator<string> {
    for (const path of PRELUDE) for (const [name] of this.loadedPackage(path)?.members.entries() ?? []) yield name;
  }

  importPackage(path: string): PackageTypes | null {
    return this.loadedPackage(path)?.exported ?? null;
  }

  get paths(): Iterable<string> {
    return this.packages.keys();
  }

  /** The Flux text of a package. */
  sourceOf(path: string): string | null {
    return this.packages.get(path)?.source ?? null;
  }

  /** Names of a package that are computed outside of Flux: functions and values. */
  nativesOf(path: string): readonly string[] {
    return Object.keys(this.packages.get(path)?.natives ?? {});
  }

  private loadedPackage(path: string): LoadedPackage | null {
    let found = this.loaded.get(path);
    if (found === undefined) {
      const library = this.packages.get(path);
      if (library === undefined) return null;
      found = new LoadedPackage(library, this.inner);
      this.loaded.set(path, found);
    }
    return found;
  }

  /** A name that neither a script nor its imports bind. */
  global(name: string, run: ScriptRun): Value {
    const option = run.options.get("universe", name);
    if (option !== undefined) return option;
    const path = this.preludePath(name);
    const value = path === undefined ? undefined : run.importPackage(path).get(name);
    if (value === undefined) throw new FluxError(`undefined identifier ${name}`);
    return value;
  }

  /** The package of the prelude that has the name. */
  private preludePath(name: string): string | undefined {
    let found = this.preludePaths.get(name);
    if (found === undefined) {
      found = PRELUDE.find((path) => this.loadedPackage(path)?.has(name));
      if (found !== undefined) this.preludePaths.set(name, found);
    }
    return found;
  }

  load(path: string, run: ScriptRun): PackageValue {
    const loaded = this.loadedPackage(path);
    if (loaded === null) throw new FluxError(`invalid import path ${path}`);
    return new LoadedValues(loaded, run);
  }

  /** The name that an import of the path binds. */
  nameOf(path: string): string | null {
    return this.packages.get(path)?.name ?? null;
  }
}
