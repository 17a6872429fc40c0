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

/** Runs a script and returns its answer as text, piece by piece. @throws Refused, TsdbError io */
export async function askFlux(
  api: Api,
  organization: Readonly<Record<string, string>>,
  { script, format, signal }: { readonly script: string; readonly format: FluxFormat; readonly signal: AbortSignal },
): Promise<AsyncGenerator<Uint8Array, void>> {
  const body = { query: script, type: "flux", dialect: { annotations: ANNOTATIONS } };
  const pieces = piecesOf(await api.call("POST", "/api/v2/query", { query: organization, body, signal }));
  return format === "csv" ? pieces : tableText(pieces);
}

/** @throws TsdbError config */
export function fluxFormatOf(text: string): FluxFormat {
  const format = FLUX_FORMATS.find((each) => each === text);
  if (format === undefined) throw new TsdbError("config", `--format must be ${FLUX_FORMATS.join(" or ")} for flux, got "${text}"`, {});
  return format;
}
