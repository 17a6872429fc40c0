// What a client command is.
import type { Environment } from "../flags.ts";
import type { Input, Option, Positional } from "./options.ts";

/** Where a command reads and writes; tests give their own. */
export interface Terminal {
  /** A promise when the reader is slow; commands that write much await it. */
  readonly out: (text: string | Uint8Array) => Promise<void> | undefined;
  readonly error: (text: string) => void;
  /** Beside errors, for sequences of our own: what `out` and `error` are given is shown, and never acted upon by a terminal. */
  readonly control: (sequence: string) => void;
  /** The rest of standard input. */
  readonly input: () => ReadableStream<Uint8Array>;
  readonly isInputTerminal: boolean;
  readonly isOutputTerminal: boolean;
  readonly columns: number;
  readonly rows: number;
  readonly environment: Environment;
}

export interface ClientCommand {
  /** `["create", "database"]`. */
  readonly words: readonly string[];
  /** Short forms of the only word. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** More lines of the help. */
  readonly notes?: string;
  readonly positionals: readonly Positional[];
  readonly options: readonly Option[];
  /** What a failure is called: `Create` in `Create command failed: …`. */
  readonly verb: string;
  /** Returns the exit code. @throws Refused, TsdbError */
  run(input: Input, terminal: Terminal): Promise<number>;
}
