// What is written down of who signed in, and who changed users, roles and tokens.

/** One line of the audit log. */
export interface AuditEvent {
  /** `user NAME`, `token NAME`, or who the client says it is. */
  readonly actor: string;
  /** `sign_in`, `user_created`. */
  readonly action: string;
  /** What it was done to; "" = nothing but the actor. */
  readonly target: string;
  readonly outcome: "success" | "failure";
  /** Of the client; "" if it is not known. */
  readonly address: string;
  /** Why it failed, or what has changed. Never a password or a token. */
  readonly details: string;
}

/** Where events go. */
export type Audit = (event: Pick<AuditEvent, "actor" | "action"> & Partial<AuditEvent>) => void;
