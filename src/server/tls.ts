// The TLS certificate: one named in the configuration, or a self-signed one in the data folder.
import { join } from "node:path";
import type { ServeConfig } from "../cli/serve-config.ts";
import { TsdbError } from "../model/errors.ts";
import type { Tls } from "../model/tls.ts";

/** Null: plain HTTP. @throws TsdbError config if a self-signed certificate cannot be stored */
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
