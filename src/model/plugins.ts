// Plugins as users manage them: their files, the packages they import, dry runs.

export interface PluginDryRun {
  /** As in a trigger: a path below --plugin-dir, or `gh:` and one of the repository. */
  readonly filename: string;
  readonly database: string;
  /** Null: the cache that all dry runs without a name share. */
  readonly cacheName: string | null;
  readonly arguments: Readonly<Record<string, string>> | null;
}

export interface PluginDryRunResult {
  /** `INFO: text` */
  readonly logLines: readonly string[];
  /** Lines that would have been written, by database. */
  readonly writes: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly string[];
}

/** A trigger whose plugin is meant. */
export interface PluginTrigger {
  readonly name: string;
  /** Null: of any database, as long as there is one plugin only. */
  readonly database: string | null;
}

/** @throws TsdbError plugin (off, no such plugin), bad_request, unknown_database, already_exists, forbidden */
export interface PluginService {
  /** A new file, or a new content of an existing one. */
  createFile(name: string, content: string): Promise<void>;
  /** Replaces the file of the trigger of this name. */
  updateFile(trigger: PluginTrigger, content: string): Promise<void>;
  /** Replaces all files in the folder of the trigger of this name. */
  updateFolder(trigger: PluginTrigger, files: readonly { readonly path: string; readonly content: string }[]): Promise<void>;
  /** Resolves when they are installed. An error has the output of the package manager. */
  installPackages(packages: readonly string[]): Promise<void>;
  /** `location`: of a requirements file, below --plugin-dir or absolute. */
  installRequirements(location: string): Promise<void>;
  testWrites(run: PluginDryRun, lineProtocol: string): Promise<PluginDryRunResult>;
  /** The time is the next one of `schedule`; null = every second. */
  testSchedule(run: PluginDryRun, schedule: string | null): Promise<PluginDryRunResult & { readonly timeMs: number | null }>;
}
