// What the packages of senders have in common: an endpoint sends a message for each row.
import type { LibraryPackage, NativeBody } from "../native-call.ts";

export interface Sender {
  readonly path: string;
  readonly name: string;
  /** Paths besides `http` and `json`. */
  readonly imports?: readonly string[];
  /** Options and functions; one of them sends a message and answers the HTTP status. */
  readonly source: string;
  readonly endpoint: EndpointText;
  readonly natives?: Readonly<Record<string, NativeBody>>;
}

export interface EndpointText {
  /** Parameters of `endpoint`, as Flux. */
  readonly parameters: string;
  /** The call that sends the record `message`, as Flux. */
  readonly send: string;
  /** What rows get; both unless said otherwise. */
  readonly columns?: readonly ("_status" | "_sent")[];
}

const ADDED = { _status: "string(v: status)", _sent: "string(v: status / 100 == 2)" } as const;

/** `endpoint(…)(mapFn: …)` takes tables and adds `_status` and `_sent` to each row. */
function endpointSource({ parameters, send, columns = ["_status", "_sent"] }: EndpointText): string {
  const added = columns.map((column) => `${column}: ${ADDED[column]}`).join(", ");
  return `
endpoint = (${parameters}) => (mapFn) => (tables=<-) =>
    tables
        |> map(
            fn: (r) => {
                message = mapFn(r: r)
                status = ${send}
                return {r with ${added}}
            },
        )
`;
}

/** The package of a service that notifications are sent to. */
export function senderPackage({ path, name, imports = [], source, endpoint, natives = {} }: Sender): LibraryPackage {
  const imported = ["http", "json", ...imports].map((each) => `import "${each}"\n`).join("");
  return { path, name, source: `${imported}${source}${endpointSource(endpoint)}`, natives };
}
