// A server of the v2 line with an organization whose templates are tried.
import { type LightServer, lightServer } from "../vectors/v2/light-server.ts";
import { ask } from "./v2-ask.ts";

export const API = "influxdata.com/v2alpha1";
export const QUERY = 'from(bucket: "b") |> range(start: -1h) |> filter(fn: (r) => r._field == "f")';

/** A resource of a template. */
export const object = (kind: string, name: string, spec: object) => ({
  apiVersion: API,
  kind,
  metadata: { name },
  spec,
});

/** The body of an application of these resources. */
export const of = (contents: readonly object[], more: object = {}) => ({ template: { contents }, ...more });

/** A server with one organization, whose operator applies templates. */
export class TemplateServer {
  private constructor(
    readonly server: LightServer,
    readonly orgID: string,
  ) {}

  /** With the operator's token `tok`. */
  static async start(): Promise<TemplateServer> {
    const server = await lightServer({ bucketLimits: { countMax: 4 } });
    const setup = { username: "admin", password: "password12", org: "o", bucket: "bucket", token: "tok" };
    return new TemplateServer(server, (await ask(server, "POST", "/api/v2/setup", undefined, setup)).body.org.id);
  }

  apply(body: object, token = "tok") {
    return ask(this.server, "POST", "/api/v2/templates/apply", token, { orgID: this.orgID, ...body });
  }

  /** Removes a stack with its resources. */
  remove(stackID: string) {
    return ask(this.server, "DELETE", `/api/v2/stacks/${stackID}?orgID=${this.orgID}`, "tok");
  }
}
