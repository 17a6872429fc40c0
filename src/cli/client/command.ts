// The interface of client commands.
import type { Environment } from "../flags.ts";
import type { Input, Option, Positional } from "./options.ts";

/** Input and output of a command; replaced in tests. */
export interface Terminal {
  /** Returns a promise while the reader is slow; commands with much output await it. */
  readonly out: (text: string | Uint8Array) => Promise<void> | undefined;
  readonly error: (text: string) => void;
  /** Writes terminal control sequences to standard error; in the text of `out` and `error` they are made visible instead. */
  readonly control: (sequence: string) => void;
  /** Standard input, as far as unread. */
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
  /** Other words for it: short forms of a single word, or as many words. */
  readonly aliases?: readonly string[];
  readonly summary: string;
  /** Additional lines of the help. */
  readonly notes?: string;
  readonly positionals: readonly Positional[];
  readonly options: readonly Option[];
  /** True: tsdb.toml has nothing for it, because it speaks to another port. */
  readonly isApart?: boolean;
  /** Used in failure messages: `Create` in `Create command failed: …`. */
  readonly verb: string;
  /** Returns the exit code. @throws Refused, TsdbError */
  run(input: Input, terminal: Terminal): Promise<number>;
}
