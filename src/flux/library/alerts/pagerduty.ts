// Package `pagerduty`: events with a key that joins those of one group.
import { FluxColumn } from "../../tables/column.ts";
import { eachTable } from "../../tables/stream.ts";
import type { GroupKey } from "../../tables/table.ts";
import { displayText, stringOf } from "../../values/text.ts";
import { isNull, Time, type Value } from "../../values/value.ts";
import type { LibraryPackage } from "../native-call.ts";
import { operator } from "../operator.ts";

/** Times have all their digits. */
function keyText(value: Value): string {
  if (isNull(value)) return "";
  return value instanceof Time ? displayText(value) : stringOf(value)!;
}

/** SHA-256 of the labels and values of the key, in order of the labels. */
function dedupKey(key: GroupKey, exclude: readonly string[]): string {
  const columns = key.columns.filter(({ label }) => !exclude.includes(label)).sort((a, b) => (a.label < b.label ? -1 : 1));
  const hash = new Bun.CryptoHasher("sha256");
  for (const { label, value } of columns) hash.update(`${label}\n${keyText(value)}\n`);
  return hash.digest("hex");
}

const PARAMETERS =
  'pagerdutyURL=defaultURL, routingKey, client, clientURL, dedupKey, class, group, severity, eventAction, source, component="", summary, timestamp, customDetails=record.any';

export const PAGERDUTY: LibraryPackage = {
  path: "pagerduty",
  name: "pagerduty",
  source: `
import "dict"
import "experimental/record"
import "http/requests"
import "json"
import "strings"
builtin dedupKey : (<-tables: stream[A], ?exclude: [string]) => stream[{A with _pagerdutyDedupKey: string}]
option defaultURL = "https://events.pagerduty.com/v2/enqueue"
_severities = ["crit": "critical", "warn": "warning", "info": "info", "ok": "info"]
severityFromLevel = (level) => dict.get(dict: _severities, key: strings.toLower(v: level), default: "error")
_action = (text) => if strings.toLower(v: text) == "ok" then "resolve" else "trigger"
actionFromSeverity = (severity) => _action(text: severity)
actionFromLevel = (level) => _action(text: level)
_post = (${PARAMETERS}) => {
    payload = {
        summary: strings.substring(v: summary, start: 0, end: 1023),
        timestamp: timestamp,
        source: source,
        component: component,
        severity: severity,
        group: group,
        class: class,
    }
    event = {
        payload: payload,
        routing_key: routingKey,
        dedup_key: dedupKey,
        event_action: eventAction,
        client: client,
        client_url: clientURL,
    }
    return
        requests.post(
            url: pagerdutyURL,
            headers: ["Content-Type": "application/json", "Accept": "application/vnd.pagerduty+json;version=2"],
            body:
                if customDetails == record.any then
                    json.encode(v: event)
                else
                    json.encode(v: {event with payload: {payload with custom_details: customDetails}}),
        )
}
sendEvent = (${PARAMETERS}) => {
    response =
        _post(
            pagerdutyURL,
            routingKey,
            client,
            clientURL,
            dedupKey,
            class,
            group,
            severity,
            eventAction,
            source,
            component,
            summary,
            timestamp,
            customDetails,
        )
    return response.statusCode
}
endpoint = (url=defaultURL) => (mapFn) => (tables=<-) =>
    tables
        |> dedupKey()
        |> map(
            fn: (r) => {
                event = mapFn(r: r)
                response =
                    _post(
                        pagerdutyURL: url,
                        dedupKey: r._pagerdutyDedupKey,
                        routingKey: event.routingKey,
                        client: event.client,
                        clientURL: event.clientURL,
                        class: event.class,
                        group: event.group,
                        severity: event.severity,
                        eventAction: event.eventAction,
                        source: event.source,
                        summary: event.summary,
                        timestamp: event.timestamp,
                        component: record.get(r: event, key: "component", default: ""),
                        customDetails: record.get(r: event, key: "customDetails", default: record.any),
                    )
                return {r with
                    _status: string(v: response.statusCode),
                    _sent: string(v: response.statusCode / 100 == 2),
                    _body: string(v: response.body),
                }
            },
        )
`,
  natives: {
    dedupKey: operator((call) => {
      const exclude = call.strings("exclude", ["_start", "_stop", "_level"]);
      return (input) =>
        eachTable(input, (table) => {
          return table.set(FluxColumn.constant("_pagerdutyDedupKey", "string", dedupKey(table.key, exclude), table.rowCount));
        });
    }),
  },
};
