// Package `experimental/prometheus`: metrics of services, and quantiles of their histograms.
import { FluxColumn } from "../../tables/column.ts";
import { FluxTable, GroupKey, type KeyColumn } from "../../tables/table.ts";
import { systemTime } from "../../values/system-time.ts";
import { Time } from "../../values/value.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";
import { askHttp, NO_BODY, urlWith } from "../network/http-call.ts";
import { streamOf } from "../operator.ts";
import { type Metric, parseExposition } from "./exposition.ts";

/** A metric is a field; its labels, also the bounds of histograms, are tags. */
function tableOf({ name, labels, value, milliseconds }: Metric, url: string, now: Time): FluxTable {
  const tags = labels.filter(([label]) => !label.startsWith("_")).sort(([a], [b]) => (a < b ? -1 : 1));
  const key = [["_measurement", "prometheus"] as const, ["_field", name] as const, ...tags].map(
    ([label, text]): KeyColumn => ({ label, type: "string", value: text }),
  );
  const time = milliseconds === null || milliseconds <= 0n ? now : new Time(BigInt.asIntN(64, milliseconds * 1_000_000n));
  const columns = [
    FluxColumn.constant("_time", "time", time, 1),
    FluxColumn.constant("_value", "float", value, 1),
    ...key.slice(0, 2).map(({ label, value: text }) => FluxColumn.constant(label, "string", text, 1)),
    FluxColumn.constant("url", "string", url, 1),
    ...key.slice(2).flatMap(({ label, value: text }) => (label === "url" ? [] : [FluxColumn.constant(label, "string", text, 1)])),
  ];
  return new FluxTable(new GroupKey(key.filter(({ label }) => label !== "url")), columns, 1);
}

const scrape: NativeBody = (call) => {
  const url = urlWith(call.string("url"), []);
  const headers = [["Accept", "text/plain;version=0.0.4"]] as const;
  const { body } = askHttp(call, { method: "GET", url, headers, body: NO_BODY.bytes, timeoutMs: 0, isInsecure: false });
  const metrics = parseExposition(new TextDecoder("utf-8", { ignoreBOM: false }).decode(body));
  return streamOf(call, [], () => {
    const now = systemTime();
    return metrics.map((metric) => tableOf(metric, call.string("url"), now));
  });
};

export const PROMETHEUS: LibraryPackage = {
  path: "experimental/prometheus",
  name: "prometheus",
  source: `
import "experimental"
import "universe"
builtin scrape : (url: string) => stream[A] where A: Record
_quantiles = (tables=<-, quantile, onNonmonotonic) =>
    tables
        |> universe.histogramQuantile(quantile: quantile, onNonmonotonic: onNonmonotonic)
        |> group(mode: "except", columns: ["le", "_time", "_value"])
        |> set(key: "quantile", value: string(v: quantile))
        |> experimental.group(mode: "extend", columns: ["quantile"])
histogramQuantile = (tables=<-, quantile, metricVersion=2, onNonmonotonic="error") => {
    buckets =
        if metricVersion == 2 then
            tables
                |> group(mode: "except", columns: ["le", "_value"])
                |> map(fn: (r) => ({r with le: float(v: r.le)}))
        else if metricVersion == 1 then
            tables
                |> filter(fn: (r) => r._field != "count" and r._field != "sum")
                |> map(fn: (r) => ({r with le: float(v: r._field)}))
                |> group(mode: "except", columns: ["_field", "le", "_value"])
        else
            die(msg: "Invalid metricVersion. Available versions are 1 and 2.")
    return buckets |> _quantiles(quantile: quantile, onNonmonotonic: onNonmonotonic)
}
`,
  natives: { scrape },
};
