// Triggers of the processing engine as the catalog knows them, and as users make and change them.

/** What makes a trigger run its plugin. `writes` of null: rows of every table of the database. */
export type TriggerSpec =
  | { readonly kind: "writes"; readonly table: string | null }
  /** Six fields, seconds first, in UTC. */
  | { readonly kind: "cron"; readonly pattern: string }
  | { readonly kind: "every"; readonly periodMs: number }
  | { readonly kind: "request"; readonly path: string };

/** What becomes of a run that failed: it is logged; it runs again; the trigger is disabled. */
export const ERROR_BEHAVIORS = ["log", "retry", "disable"] as const;
export type ErrorBehavior = (typeof ERROR_BEHAVIORS)[number];

/** Kinds of triggers, by which a server can refuse some. */
export const TRIGGER_KINDS = ["wal", "schedule", "request"] as const;
export type TriggerKind = (typeof TRIGGER_KINDS)[number];

export interface TriggerDef {
  /** Unique over all triggers that there ever were. */
  readonly id: number;
  readonly databaseId: number;
  /** Unique in the database. */
  readonly name: string;
  /** As it was given: a path below --plugin-dir, or `gh:` and one of the repository. */
  readonly plugin: string;
  /** As it was given. */
  readonly specification: string;
  readonly runAsync: boolean;
  readonly errorBehavior: ErrorBehavior;
  readonly arguments: Readonly<Record<string, string>> | null;
  /** Servers that run it: `all`, or `nodes:a,b`. */
  readonly nodes: string;
  /** `failed`: it has disabled itself after an error. */
  readonly state: "enabled" | "disabled" | "failed";
  /** Of the write-ahead log: rows up to it are from before it was made or enabled. */
  readonly sequence: number;
  readonly createdMs: number;
}

export interface NewTrigger {
  readonly database: string;
  readonly name: string;
  readonly plugin: string;
  readonly specification: string;
  readonly runAsync: boolean;
  /** In small or capital letters. */
  readonly errorBehavior: string;
  readonly arguments: Readonly<Record<string, string>> | null;
  /** Null: all. */
  readonly nodes: readonly string[] | null;
  readonly isDisabled: boolean;
}

export interface TriggerName {
  readonly database: string;
  readonly name: string;
}

/** Each takes effect in the step of its call and resolves when it is durable.
 *  @throws TsdbError bad_request, unknown_database, not_found, plugin, limit_exceeded, unavailable: nothing has changed then */
export interface TriggerService {
  create(trigger: NewTrigger): Promise<void>;
  /** Without `force` a trigger that runs at the moment is not deleted. */
  delete(trigger: TriggerName, force: boolean): Promise<void>;
  enable(trigger: TriggerName): Promise<void>;
  /** What runs of it is stopped. */
  disable(trigger: TriggerName): Promise<void>;
}

/** A request to a path of a trigger. */
export interface EngineRequest {
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case, without `authorization`. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

export interface EngineAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** A trigger that answers requests. */
export interface EngineRoute {
  /** Whose trigger it is: who may not read and write it may not ask. */
  readonly database: string;
  /** @throws TsdbError plugin when the plugin fails; cancelled; overloaded */
  run(request: EngineRequest): Promise<EngineAnswer>;
}

export interface EngineService {
  /** Null: no trigger has the path. */
  find(path: string): EngineRoute | null;
}
