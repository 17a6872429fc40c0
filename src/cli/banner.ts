// The message printed when a server is ready: its addresses, how to authenticate, and commands to try first.
import { join } from "node:path";
import type { ServeConfig } from "./serve-config.ts";

export interface Ready {
  readonly url: string;
  /** Null: off. */
  readonly flightUrl: string | null;
  /** The bucket-based API. Null: off. */
  readonly v2Url: string | null;
  /** Nobody has set the bucket-based API up. */
  readonly wantsSetup: boolean;
  /** True if no token exists. */
  readonly wantsOperator: boolean;
}

type Shown = Pick<ServeConfig, "objectStore" | "dataDir" | "withoutAuth" | "tls">;

const FLIGHT_CLIENTS = "v3 client libraries, Grafana's SQL mode, ADBC and JDBC";

/** The text of the banner; ends without a newline. */
export function bannerOf(config: Shown, { url, flightUrl, v2Url, wantsSetup, wantsOperator }: Ready): string {
  const data = config.objectStore === "memory" ? "in memory, gone when the server stops" : config.dataDir;
  const curl = `curl${trusting(config)}`;
  const header = config.withoutAuth ? "" : " -H 'Authorization: Bearer TOKEN'";
  const lines = [
    `tsdb listens on ${url} (HTTP: writes, queries, v1 clients and dashboards)`,
    flightUrl === null
      ? `Arrow Flight is off: ${FLIGHT_CLIENTS} cannot query`
      : `Arrow Flight is at ${flightUrl}, the one address for ${FLIGHT_CLIENTS}: it takes HTTP too`,
    ...(v2Url === null ? [] : [`buckets, organizations and users are at ${v2Url}, with tokens of their own`]),
    `data: ${data}`,
    ...(v2Url !== null && wantsSetup
      ? [
          "buckets have no user yet; the first one, with an organization and a bucket, is made by:",
          `  tsdb setup --host ${v2Url}${trustingCommand(config)} --username admin --org demo --bucket demo`,
        ]
      : []),
    ...(wantsOperator
      ? ["no token exists yet; the first one, for everything, is made by:", `  ${curl} -X POST '${url}/api/v3/configure/token/admin'`]
      : []),
    config.withoutAuth ? "try:" : "try, with a token in place of TOKEN:",
    `  ${curl} '${url}/api/v3/write_lp?db=demo'${header} --data-binary 'weather,city=Oslo temp=21.5'`,
    `  ${curl} '${url}/api/v3/query_sql?db=demo&format=pretty'${header} --get --data-urlencode 'q=SELECT * FROM weather'`,
  ];
  return lines.join("\n");
}

/** The same for commands of this program. */
function trustingCommand({ tls, objectStore, dataDir }: Shown): string {
  if (tls !== "self-signed") return "";
  return objectStore === "memory" ? " --tls-no-verify" : ` --tls-ca '${join(dataDir, "tls/certificate.pem").replaceAll("'", "'\\''")}'`;
}

/** The curl option that makes it trust a self-signed certificate. */
function trusting({ tls, objectStore, dataDir }: Shown): string {
  if (tls !== "self-signed") return "";
  return objectStore === "memory" ? " -k" : ` --cacert '${join(dataDir, "tls/certificate.pem").replaceAll("'", "'\\''")}'`;
}
