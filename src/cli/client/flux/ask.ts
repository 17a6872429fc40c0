// Scripts sent to the bucket-based API by the commands `flux` and `query --language flux`.
import { TsdbError } from "../../../model/errors.ts";
import { type Api, piecesOf } from "../api.ts";
import type { Input, Option } from "../options.ts";
import { tableText } from "./table-text.ts";

/** pretty: tables for people. csv: annotated CSV as it comes. */
export const FLUX_FORMATS = ["pretty", "csv"] as const;
export type FluxFormat = (typeof FLUX_FORMATS)[number];

export const ORGANIZATION: Option = {
  name: "org",
  value: "NAME",
  help: "Organization of scripts, by name or id.",
  env: ["TSDB_V2_ORG", "INFLUX_ORG"],
};
export const BUCKETS_TOKEN_ENV = ["TSDB_V2_TOKEN", "INFLUX_TOKEN"];

const ANNOTATIONS = ["datatype", "group", "default"];

/** Parameters of the organization. @throws TsdbError config: none is named */
export function organizationOf(input: Pick<Input, "option">): Readonly<Record<string, string>> {
  const org = input.option("org");
  if (org === undefined || org === "") throw new TsdbError("config", "--org NAME is missing; TSDB_V2_ORG also names it", {});
  return { org };
}

/** A script, and how its answer is wanted. */
export interface FluxScript {
  readonly script: string;
  readonly format: FluxFormat;
  readonly signal: AbortSignal;
  /** What to measure while it runs, as `query` and `operator`. */
  readonly profilers?: readonly string[];
}

/** Runs a script and returns its answer as text, piece by piece. @throws Refused, TsdbError io */
export async function askFlux(
  api: Pick<Api, "call">,
  organization: Readonly<Record<string, string>>,
  { script, format, signal, profilers }: FluxScript,
): Promise<AsyncGenerator<Uint8Array, void>> {
  const extern = profilers === undefined ? {} : { extern: profilersOption(profilers) };
  const body = { query: script, type: "flux", dialect: { annotations: ANNOTATIONS }, ...extern };
  const pieces = piecesOf(await api.call("POST", "/api/v2/query", { query: organization, body, signal }));
  return format === "csv" ? pieces : tableText(pieces);
}

/** @throws TsdbError config */
export function fluxFormatOf(text: string): FluxFormat {
  const format = FLUX_FORMATS.find((each) => each === text);
  if (format === undefined) throw new TsdbError("config", `--format must be ${FLUX_FORMATS.join(" or ")} for flux, got "${text}"`, {});
  return format;
}

/** `import "profiler"` and `option profiler.enabledProfilers = […]`, as a tree: it goes beside the script, whose imports come first. */
function profilersOption(names: readonly string[]): object {
  const elements = names.map((value) => ({ type: "StringLiteral", value }));
  const identifier = (name: string) => ({ type: "Identifier", name });
  const member = { type: "MemberExpression", object: identifier("profiler"), property: identifier("enabledProfilers") };
  const assignment = { type: "MemberAssignment", member, init: { type: "ArrayExpression", elements } };
  return {
    type: "File",
    imports: [{ type: "ImportDeclaration", path: { type: "StringLiteral", value: "profiler" } }],
    body: [{ type: "OptionStatement", assignment }],
  };
}
