// Packages that ask other databases over HTTP, and forms of reading that others have made of `from`.
import { eachTable } from "../../tables/stream.ts";
import type { LibraryPackage } from "../native-call.ts";
import { operator } from "../operator.ts";

export const CLICKHOUSE: LibraryPackage = {
  path: "contrib/qxip/clickhouse",
  name: "clickhouse",
  source: `
import "csv"
import "experimental/http/requests"
option defaultURL = "http://127.0.0.1:8123"
query = (url=defaultURL, query, limit=100, cors="1", max_bytes=10000000, format="CSVWithNames") => {
    answer =
        requests.get(
            url: url,
            headers: ["X-ClickHouse-Format": string(v: format)],
            params: [
                "query": [query],
                "default_format": [format],
                "add_http_cors_header": [cors],
                "max_result_rows": [string(v: limit)],
                "max_result_bytes": [string(v: max_bytes)],
            ],
        )
    return csv.from(mode: "raw", csv: string(v: answer.body))
}
`,
  natives: {},
};

export const LOGQL: LibraryPackage = {
  path: "contrib/qxip/logql",
  name: "logql",
  source: `
import "csv"
import "date"
import "experimental/http/requests"
option defaultURL = "http://127.0.0.1:3100"
option defaultAPI = "/loki/api/v1/query_range"
_nanoseconds = (t) => string(v: uint(v: date.time(t: t)))
query_range = (url=defaultURL, path=defaultAPI, query, limit=100, step=10, start=-1h, end=now(), orgid="") => {
    answer =
        requests.get(
            url: url + path,
            headers: if orgid == "" then [:] else ["X-Scope-OrgID": orgid],
            body: bytes(v: query),
            params: [
                "csv": ["1"],
                "query": [query],
                "limit": [string(v: limit)],
                "step": [string(v: step)],
                "start": [_nanoseconds(t: start)],
                "end": [_nanoseconds(t: end)],
            ],
        )
    return csv.from(mode: "raw", csv: string(v: answer.body))
}
`,
  natives: {},
};

export const USAGE: LibraryPackage = {
  path: "experimental/usage",
  name: "usage",
  source: `
import "csv"
import "experimental/influxdb"
import "experimental/json"
import "http"
_path = (orgID, what) => "/api/v2/orgs/" + (if orgID == "" then "{orgID}" else http.pathEscape(inputString: orgID)) + "/" + what
_checked = (response, what) =>
    if response.statusCode > 299 then
        die(msg: "organization " + what + " request returned status " + string(v: response.statusCode) + ": " + string(v: response.body))
    else
        response
from = (start, stop, host="", orgID="", token="", raw=false) => {
    response =
        influxdb.api(
            method: "get",
            path: _path(orgID: orgID, what: "usage"),
            host: host,
            token: token,
            query: ["start": string(v: start), "stop": string(v: stop), "raw": string(v: raw)],
        )
    checked = _checked(response: response, what: "usage")
    return csv.from(csv: string(v: checked.body))
}
limits = (host="", orgID="", token="") => {
    response = influxdb.api(method: "get", path: _path(orgID: orgID, what: "limits"), host: host, token: token)
    checked = _checked(response: response, what: "limits")
    return json.parse(data: checked.body).limits
}
`,
  natives: {},
};

/** `select` in one call: measurement, fields, condition and range. */
export const JSTERNBERG_INFLUXDB: LibraryPackage = {
  path: "contrib/jsternberg/influxdb",
  name: "influxdb",
  source: `
import "influxdata/influxdb"
import "influxdata/influxdb/schema"
builtin _mask : (<-tables: stream[A], columns: [string]) => stream[B] where A: Record, B: Record
_source = (bucket, org, host, token) =>
    if org == "" and host == "" and token == "" then
        influxdb.from(bucket: bucket)
    else if host == "" and token == "" then
        influxdb.from(bucket: bucket, org: org)
    else if org == "" and token == "" then
        influxdb.from(bucket: bucket, host: host)
    else if org == "" and host == "" then
        influxdb.from(bucket: bucket, token: token)
    else if token == "" then
        influxdb.from(bucket: bucket, org: org, host: host)
    else if host == "" then
        influxdb.from(bucket: bucket, org: org, token: token)
    else if org == "" then
        influxdb.from(bucket: bucket, host: host, token: token)
    else
        influxdb.from(bucket: bucket, org: org, host: host, token: token)
_read = (bucket, start, stop, org, host, token) =>
    _source(bucket: bucket, org: org, host: host, token: token) |> range(start: start, stop: stop)
from = (bucket, start, stop=now(), org="", host="", token="") =>
    _read(bucket: bucket, start: start, stop: stop, org: org, host: host, token: token)
select = (from, start, stop=now(), m, fields=[], org="", host="", token="", where=(r) => true) =>
    _read(bucket: from, start: start, stop: stop, org: org, host: host, token: token)
        |> filter(fn: (r) => r._measurement == m)
        |> filter(fn: where)
        |> filter(fn: (r) => length(arr: fields) == 0 or contains(value: r._field, set: fields))
        |> schema.fieldsAsCols()
        |> _mask(columns: ["_measurement", "_start", "_stop"])
`,
  natives: {
    _mask: operator((call) => {
      const hidden = new Set(call.strings("columns"));
      return (input) => eachTable(input, (table) => table.with(table.columns.filter(({ label }) => !hidden.has(label))));
    }),
  },
};
