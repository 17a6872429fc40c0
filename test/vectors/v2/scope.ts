// Which recorded conversations are replayed, and which of their steps ask for what this server does not have yet.

/** Groups that need no rows: they are replayed without sockets and threads. */
export const LIGHT_GROUPS = [
  ...(["authorizations", "buckets", "labels", "legacy_authorizations", "orgs", "secrets", "session", "setup", "system", "users"] as const),
] as const;

/** Groups about rows: they are replayed against a process. */
export const FULL_GROUPS = ["write"] as const;

/** Paths that are not served, and what is missing. */
const NOT_SERVED: readonly (readonly [path: RegExp, what: string])[] = [
  [/^(?:\/api\/v2\/(?:delete|query)|\/write|\/query)(?:\/|$)/, "rows"],
  [/^\/api\/v2\/dbrps(?:\/|$)/, "mappings"],
  [
    /^\/api\/v2\/(?:tasks|checks|notificationEndpoints|notificationRules|dashboards|variables|telegrafs|scrapers|sources|documents|templates)(?:\/|$)/,
    "resources of scripts and pages",
  ],
  [/^\/api\/v2private\//, "pages of the vendor's interface"],
  [/^\/api\/v2\/(?:backup|restore)\//, "backup"],
];

/** Bound by answers of those paths alone. */
const NOT_BOUND = /^\{\{(?:endpoint|check|rule|scraper|telegraf|dashboard|variable|task|dbrp)\d+\.id\}\} is not bound$/;

/** What a step that differs asks for and this server does not have; null = nothing, it is to be compared. */
export function missingPart(request: string, mismatch: string): string | null {
  const path = request.slice(request.indexOf(" ") + 1);
  return NOT_SERVED.find(([pattern]) => pattern.test(path))?.[1] ?? (NOT_BOUND.test(mismatch) ? "what bound the id" : null);
}
