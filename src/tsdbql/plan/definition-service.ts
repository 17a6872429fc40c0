// The interface for running statements about databases, retention policies and deletions, which read no rows.

import type { SeriesPiece } from "../../model/query/series-piece.ts";
import type { PolicyLookup } from "../../model/retention-policies.ts";
import type { Definition, Show } from "../parse/ast.ts";

/** The scope supplied by the request. */
export interface DefinitionScope {
  /** The request's database; "": none. */
  readonly database: string;
  readonly nowNs: bigint;
  readonly signal: AbortSignal;
  /** Listings contain only these databases. */
  readonly isVisible: (database: string) => boolean;
  /** True if rows of the database, or all of it, may be deleted: called for each `db/rp` that a statement about `db` includes. */
  readonly mayDelete: (database: string) => boolean;
}

export interface DefinitionService {
  /** Resolves when the change is durable, to messages for the client. @throws TsdbError with 1.x's texts: bad_query, bad_request,
   *  unknown_database, forbidden, limit_exceeded, unavailable */
  run(definition: Definition, scope: DefinitionScope): Promise<readonly string[]>;
  /** The answer of a SHOW statement that needs only names; null: it needs rows. @throws as `run` */
  show(statement: Show, scope: DefinitionScope): readonly SeriesPiece[] | null;
  /** The database that INTO writes to. `policies`: for v1 clients, otherwise null. @throws TsdbError unknown_database: INTO creates
   *  neither databases nor retention policies */
  checkTarget(database: string, retentionPolicy: string | null, policies: PolicyLookup | null): string;
}
