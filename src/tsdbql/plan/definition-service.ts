// What runs the statements that are about databases, retention policies and what is to be deleted, not about rows to be read.

import type { SeriesPiece } from "../../model/query/series-piece.ts";
import type { PolicyLookup } from "../../model/retention-policies.ts";
import type { Definition, Show } from "../parse/ast.ts";

/** What a statement does not say itself. */
export interface DefinitionScope {
  /** Of the request; "": none. */
  readonly database: string;
  readonly nowNs: bigint;
  readonly signal: AbortSignal;
  /** Lists show only these databases. */
  readonly isVisible: (database: string) => boolean;
  /** Whether rows of the database, or all of it, may be deleted: asked of each `db/rp` that a statement about `db` takes along. */
  readonly mayDelete: (database: string) => boolean;
}

export interface DefinitionService {
  /** Resolves when what was changed is durable, to what the client should know beside.
   *  @throws TsdbError with 1.x's words: bad_query, bad_request, unknown_database, forbidden, limit_exceeded, unavailable */
  run(definition: Definition, scope: DefinitionScope): Promise<readonly string[]>;
  /** The answer to a SHOW that needs nothing but the names of things; null: it needs rows. @throws as `run` */
  show(statement: Show, scope: DefinitionScope): readonly SeriesPiece[] | null;
  /** The database that INTO writes to. `policies`: of v1 clients, null for others.
   *  @throws TsdbError unknown_database: INTO makes neither databases nor retention policies */
  checkTarget(database: string, retentionPolicy: string | null, policies: PolicyLookup | null): string;
}
