// Reading of a file and making of rows, as the jobs see it: both happen in other threads.
import type { ColumnPlan } from "./column-plan.ts";
import type { FileFacts } from "./file-facts.ts";
import type { EncodedSlice, ImportTarget } from "./rows/imported-rows.ts";

/** A file that is open in threads of its own. Owned: call `close`. */
export interface OpenImport {
  readonly facts: FileFacts;
  /** The rows as files, each once the one before has been taken. @throws TsdbError bad_request naming row group and column; overloaded */
  slices(plan: ColumnPlan, target: ImportTarget): AsyncGenerator<EncodedSlice>;
  close(): void;
}

export interface ImportEngine {
  /** @throws TsdbError bad_request for a file that cannot be read */
  open(path: string): Promise<OpenImport>;
}
