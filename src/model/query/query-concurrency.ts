// The number of statements that run at a time, which may change while the server runs.
export interface QueryConcurrency {
  readonly concurrentMax: number;
  /** Null: as the server was started. Statements that run already go on. */
  limitConcurrent(countMax: number | null): void;
}
