// The text of a package cut into its statements without parsing them: a script uses few of the names of a package.

/** A statement that binds a name: a `builtin`, a variable or an option. */
export interface SourceStatement {
  readonly text: string;
  /** Lines of the package's text before it. */
  readonly linesBefore: number;
  readonly isBuiltin: boolean;
  readonly isOption: boolean;
}

export interface PackageSource {
  /** `import` statements, as they stand. */
  readonly imports: string;
  readonly statements: ReadonlyMap<string, SourceStatement>;
}

const HEAD = /^(import\b)?(?:(builtin|option)\s+)?([\p{L}_][\p{L}\p{Nd}_]*)?/u;

/** A statement begins at a line that begins with a letter, `_` or `"`; lines that continue it begin with anything else. */
export function packageSource(source: string): PackageSource {
  const imports: string[] = [];
  const statements = new Map<string, SourceStatement>();
  let from = 0;
  let lines: string[] = [];
  const end = () => {
    const [first] = lines;
    if (first === undefined || !/^[\p{L}_]/u.test(first)) return;
    const text = lines.join("\n");
    const [, isImport, kind, name] = HEAD.exec(first)!;
    if (isImport !== undefined) imports.push(text);
    else statements.set(name!, { text, linesBefore: from, isBuiltin: kind === "builtin", isOption: kind === "option" });
  };
  for (const [i, line] of source.split("\n").entries()) {
    if (/^[\p{L}_]/u.test(line)) {
      end();
      from = i;
      lines = [];
    }
    lines.push(line);
  }
  end();
  return { imports: imports.join("\n"), statements };
}
