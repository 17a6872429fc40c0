// POST /write on port 8086: lines of v1 clients, for the bucket that a mapping names.
import { TsdbError } from "../../../model/errors.ts";
import { Precision } from "../../../model/time/precision.ts";
import type { SearchParams } from "../app/params.ts";
import { V2Routes } from "../app/route.ts";
import type { V2Services } from "../app/services.ts";
import { BucketLines, UNITS, type Unit } from "../rows/bucket-lines.ts";
import { admitV1 } from "./credentials.ts";
import { V1Databases } from "./databases.ts";

/** Units of v1 clients. */
const V1_UNITS: Readonly<Record<string, Unit>> = {
  ...UNITS,
  n: UNITS["ns"]!,
  u: UNITS["us"]!,
  µ: UNITS["us"]!,
  m: { precision: Precision.minute, ns: 60_000_000_000n },
  h: { precision: Precision.hour, ns: 3_600_000_000_000n },
};

export const v1WriteRoutes = (services: V2Services): V2Routes => {
  const lines = new BucketLines(services);
  return new V2Routes(services).ownCredentials("POST", "/write", async (call) => {
    const principal = await admitV1(services, call);
    const databases = new V1Databases(services.line(), principal);
    return lines.take(call.request, principal, () => {
      const database = call.search.get("db");
      if (database === undefined) throw new TsdbError("bad_request", "missing db");
      return { bucket: databases.target(database, call.search.get("rp") ?? null), unit: unitOf(call.search) };
    });
  });
};

/** A unit that nobody knows is nanoseconds, as recorded. */
function unitOf(search: SearchParams): Unit {
  const name = search.get("precision") ?? "ns";
  return Object.hasOwn(V1_UNITS, name) ? V1_UNITS[name]! : UNITS["ns"]!;
}
