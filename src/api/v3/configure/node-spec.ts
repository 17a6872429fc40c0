// `node_spec`: which servers keep a cache or run a trigger.
import { type Static, t } from "elysia";
import { near, TsdbError } from "../../../model/errors.ts";

/** More than there can be. */
const NODES_MAX = 10_000;
const optionalText = t.Optional(t.Union([t.String(), t.Null()]));
export const NodeSpec = t.Optional(
  t.Union([t.String(), t.Object({ node_id: optionalText, node_group: optionalText }), t.Null()], {
    description: "Servers that it is on: `all`, `nodes:a,b`, or an object that names one. Absent or null: all.",
  }),
);

/** Names of servers; null: all. @throws TsdbError bad_request, not_found */
export function readNodeSpec(spec: Static<typeof NodeSpec> | undefined): string[] | null {
  if (spec === undefined || spec === null || spec === "all") return null;
  if (typeof spec === "string") {
    const nodes = /^nodes:(.+)$/s.exec(spec)?.[1]?.split(",") ?? [];
    if (nodes.length > 0 && nodes.length <= NODES_MAX && !nodes.includes("")) return nodes;
    throw new TsdbError("bad_request", `\`node_spec\` must be all or nodes:<id>,<id>…, got "${near(spec)}"`, {});
  }
  const { node_id: nodeId = null, node_group: group = null } = spec;
  if (group !== null) throw new TsdbError("not_found", `node group not found: ${near(group)}`, {});
  return nodeId === null ? null : [nodeId];
}
