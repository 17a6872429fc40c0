// What https is spoken with: a certificate that the configuration names, or one of the server's own in the data folder.
import { join } from "node:path";
import type { ServeConfig } from "../cli/serve-config.ts";
import { TsdbError } from "../model/errors.ts";
import type { Tls } from "../model/tls.ts";

/** Null: plain http. @throws TsdbError config when a certificate of the server's own cannot be kept */
export async function tlsOf({ tls, tlsMinimum: minimum, objectStore }: ServeConfig, dataFolder: string): Promise<Tls | null> {
  if (tls === null) return null;
  if (tls !== "self-signed") return { ...tls, minimum };
  const { selfSigned } = await import("../api/self-signed.ts");
  try {
    return { ...(await selfSigned(objectStore === "memory" ? null : join(dataFolder, "tls"), Date.now())), minimum };
  } catch (cause) {
    throw new TsdbError("config", `--tls-self-signed: ${(cause as Error).message}`, {}, { cause });
  }
}
