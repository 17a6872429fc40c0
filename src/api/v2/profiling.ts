// /debug/pprof on port 8086, which needs no token there; --v2-pprof-disabled turns it off.
import { TsdbError } from "../../model/errors.ts";
import { PROFILE_PARAMETERS, PROFILE_ROOT, ProfileAnswers } from "../shared/profiles.ts";
import { type OpenCall, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";

/** Routes of profiles. */
export const profilingRoutes = (services: V2Services): V2Routes => {
  const { options, clockMs } = services;
  const profiles = new ProfileAnswers({ commandLine: options.commandLine, clockMs });
  const enabled = (handle: (call: OpenCall) => Response | Promise<Response>) => (call: OpenCall) => {
    if (options.pprofDisabled) throw new TsdbError("forbidden", "profiling disabled");
    return handle(call);
  };
  const named = ({ params, search, request, server }: OpenCall) => {
    const given = PROFILE_PARAMETERS.map((parameter) => [parameter, search.get(parameter)] as const);
    const query = Object.fromEntries(given.filter(([, text]) => text !== undefined));
    return profiles.answer({ name: params["profile"]!, query, request, server });
  };
  return new V2Routes(services)
    .open(
      "ALL",
      PROFILE_ROOT,
      enabled(() => profiles.index()),
    )
    .open("GET", `${PROFILE_ROOT}/:profile`, enabled(named));
};
