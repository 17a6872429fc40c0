// Input and output of one run of a plugin. Triggers create calls; the runtime executes them in separate processes.

/** The caller of a run. */
export type PluginCaller =
  | {
      readonly kind: "trigger";
      readonly database: string;
      readonly trigger: string;
      /** Runs may overlap: the runtime has several processes for the trigger. */
      readonly runAsync: boolean;
    }
  /** A dry run: nothing is written to a database, and `cacheName` names a cache of tests. */
  | { readonly kind: "test"; readonly database: string; readonly cacheName: string };

/** Values of one column in the order of the rows, owned. Without `present` there is one value per row; with it only the present rows have
 *  values, one after the other. */
export type PluginValues =
  | { readonly kind: "float"; readonly values: Float64Array }
  | { readonly kind: "integer"; readonly values: BigInt64Array }
  | { readonly kind: "unsigned"; readonly values: BigUint64Array }
  /** Nanoseconds since 1970. */
  | { readonly kind: "time"; readonly values: BigInt64Array }
  /** 0 or 1. */
  | { readonly kind: "boolean"; readonly values: Uint8Array }
  /** Tags and string fields: UTF-8 texts behind each other; text i ends before `ends[i]`. A value is the number of a text; without `codes`
   *  value i is text i. */
  | { readonly kind: "text"; readonly codes: Uint32Array | null; readonly ends: Uint32Array; readonly bytes: Uint8Array };

export interface PluginColumn {
  readonly name: string;
  /** The rows that have a value, ascending; null: all have one. */
  readonly present: Uint32Array | null;
  readonly values: PluginValues;
}

/** Rows of one table. The plugin sees a dict for each row, with its columns in this order. */
export interface PluginTable {
  readonly table: string;
  readonly rowCount: number;
  readonly columns: readonly PluginColumn[];
  /** Names of the table's other columns, of which no row has a value: they are not in the dicts, and reading one gives None. */
  readonly absent: readonly string[];
}

/** The kind decides which function of the plugin runs: `ENTRY_POINTS`. */
export type PluginPayload =
  | { readonly kind: "writes"; readonly tables: readonly PluginTable[] }
  | { readonly kind: "schedule"; readonly timeMs: number }
  | {
      readonly kind: "request";
      readonly query: Readonly<Record<string, string>>;
      /** Names in lower case, without `authorization`. */
      readonly headers: Readonly<Record<string, string>>;
      readonly body: Uint8Array;
    };

export const ENTRY_POINTS = {
  writes: "process_writes",
  schedule: "process_scheduled_call",
  request: "process_request",
} as const satisfies Record<PluginPayload["kind"], string>;

export interface PluginCall {
  readonly caller: PluginCaller;
  /** Absolute path of the file, or of the folder with an `__init__.py`. */
  readonly plugin: string;
  readonly payload: PluginPayload;
  readonly arguments: Readonly<Record<string, string>> | null;
}

export type PluginLogLevel = "info" | "warn" | "error";

/** A log line of the plugin, or of the runtime about it. */
export interface PluginLogLine {
  readonly level: PluginLogLevel;
  readonly text: string;
}

/** The answer of `process_request`, converted as documented (docs/plugins.md). */
export interface PluginResponse {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array;
}

/** Line protocol that a dry run would have written. */
export interface PluginWrite {
  readonly database: string;
  readonly line: string;
}

export type PluginFailureKind =
  | "exception" // the plugin raised, or has a syntax error, or lacks the entry point
  | "write" // of the lines that it wrote some were refused; the others are stored
  | "timeout" // --plugin-time-limit
  | "memory" // --plugin-mem-limit
  | "exit" // the process ended: os._exit, a signal, a crash of a C extension
  | "garbage" // the process sent something that is no message of the runtime
  | "busy" // too many runs of the trigger wait already
  | "stopped" // the trigger or the server was stopped, or `signal` aborted
  | "no-python"; // there is no usable Python, or the plugin's file is gone

export interface PluginFailure {
  readonly kind: PluginFailureKind;
  /** One line. */
  readonly message: string;
  /** Python's traceback, without frames of the host; null: none. */
  readonly traceback: string | null;
}

/** The writes of a run that returned are stored and durable. Of a failed run only writes of `write_sync` are stored, and those that the
 *  failure `write` describes. */
export type PluginOutcome =
  | { readonly failure: null; readonly response: PluginResponse | null; readonly writes: readonly PluginWrite[] }
  | { readonly failure: PluginFailure; readonly response: null; readonly writes: readonly PluginWrite[] };
