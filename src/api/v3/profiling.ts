// /debug/pprof on port 8181, for admins.
import { t } from "elysia";
import { operation } from "../docs/operation.ts";
import { readQueryString } from "../request/query-string.ts";
import type { AppServices } from "../services.ts";
import { PROFILE_ROOT, ProfileAnswers } from "../shared/profiles.ts";
import { Routes } from "../shared/route.ts";

const LIST = operation({
  tag: "Server",
  access: "admin",
  summary: "List the profiles of the process",
  answers: { 200: { description: "A page.", content: { "text/html": t.String() } } },
});

const ProfileQuery = t.Object({
  debug: t.Optional(t.String({ description: "1: as text." })),
  seconds: t.Optional(t.String({ description: "Of `profile`: how long, at most 60.", default: "30" })),
  cpu: t.Optional(t.String({ description: "Of `all`: true or a duration as 10s adds the processor's profile." })),
});

const PROFILE = operation({
  tag: "Server",
  access: "admin",
  summary: "A profile of the process, for `go tool pprof` and other viewers",
  description:
    "`heap`, `allocs`, `goroutine`, `threadcreate`, `block`, `mutex`; `profile` is processor time of the main thread over so many seconds; `all` is an archive of them; `cmdline` and `symbol` are texts.",
  path: t.Object({ profile: t.String({ examples: ["heap"] }) }),
  query: ProfileQuery,
  answers: {
    200: {
      description: "The profile.",
      content: { "application/octet-stream": t.String({ format: "binary" }), "text/plain": t.String() },
    },
    400: { description: "A parameter cannot be understood." },
    404: { description: "There is no such profile." },
  },
});

/** Routes of profiles. */
export const profilingRoutes = (services: AppServices) => {
  const profiles = new ProfileAnswers({ commandLine: services.commandLine, clockMs: () => Date.now() });
  return new Routes(services.access)
    .get(PROFILE_ROOT, LIST, () => profiles.index())
    .pattern("GET", `${PROFILE_ROOT}/{profile}`, PROFILE, ({ parameters, target, request, server }) => {
      const query = readQueryString(ProfileQuery, target.search) ?? {};
      return profiles.answer({ name: parameters["profile"]!, query, request, server });
    });
};
