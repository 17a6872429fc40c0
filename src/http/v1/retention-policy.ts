// Retention policies of the v1 API: the name of one is part of the database's name.

/** The database that `db` and `rp` mean together: the default policies are the database itself, any other is `db/rp`. */
export function withRetentionPolicy(database: string, retentionPolicy: string | undefined): string {
  const policy = (retentionPolicy ?? "").toLowerCase();
  return policy === "" || policy === "''" || policy === "autogen" || policy === "default" ? database : `${database}/${policy}`;
}
