// All packages that scripts can import.
import { DISCORD, PUSHBULLET, SLACK, TEAMS, TELEGRAM, WEBEX_TEAMS } from "./alerts/chat.ts";
import { ALERTA, BIGPANDA, OPSGENIE, SENSU, SERVICENOW, VICTOROPS, ZENOSS } from "./alerts/incidents.ts";
import { PAGERDUTY } from "./alerts/pagerduty.ts";
import { ARRAY } from "./array/array.ts";
import { BOOLEAN } from "./boolean.ts";
import { EVENTS } from "./contrib/events.ts";
import { HASH, HEX } from "./contrib/hash.ts";
import { POLYLINE } from "./contrib/polyline.ts";
import { CLICKHOUSE, JSTERNBERG_INFLUXDB, LOGQL, USAGE } from "./contrib/services.ts";
import { ANOMALY_DETECTION, NAIVE_BAYES, OEE, STATSMODELS } from "./contrib/statistics.ts";
import { CSV } from "./csv/csv.ts";
import { BOUNDARIES, DATE_BOUNDARIES } from "./date/boundaries.ts";
import { DATE } from "./date/date.ts";
import { DEBUG, GENERATE } from "./debug/debug.ts";
import { EXPERIMENTAL } from "./experimental/experimental.ts";
import { GEO } from "./geo/geo.ts";
import { INFLUXDB } from "./influxdb/influxdb.ts";
import { JOIN } from "./join/join.ts";
import { DYNAMIC_PACKAGE, EXPERIMENTAL_JSON, JSON_PACKAGE } from "./json/json.ts";
import { Library } from "./library.ts";
import { MATH } from "./math/math.ts";
import { MONITOR } from "./monitor/monitor.ts";
import { TICKSCRIPT } from "./monitor/tickscript.ts";
import { EXPERIMENTAL_HTTP, EXPERIMENTAL_REQUESTS, HTTP, INFLUXDB_API, REQUESTS } from "./network/http.ts";
import { MQTT } from "./network/mqtt.ts";
import { BIGTABLE, IOX, KAFKA, SOCKET } from "./network/unavailable.ts";
import { PROMETHEUS } from "./prometheus/prometheus.ts";
import { PROMQL } from "./promql/promql.ts";
import { REGEXP } from "./regexp/regexp.ts";
import { EXPERIMENTAL_CSV, SAMPLE } from "./samples/sample.ts";
import { SAMPLEDATA } from "./samples/sampledata.ts";
import { GEN, INFLUXQL, LOCATION, SECRETS } from "./scalars/internal.ts";
import { BITWISE, DICT, EXPERIMENTAL_BITWISE, TIMEZONE, TYPES } from "./scalars/scalars.ts";
import { AGGREGATE, EXPERIMENTAL_ARRAY, PLANNER, PROFILER, QUERY, RECORD, RUNTIME, SYSTEM, TABLE, TASKS } from "./scalars/small.ts";
import { SCHEMA, V1 } from "./schema/schema.ts";
import { SQL } from "./sql/sql.ts";
import { STRINGS } from "./strings/strings.ts";
import { EXPECT, INTERNAL_TESTING, TESTING, TESTUTIL } from "./testing/testing.ts";
import { INTERPOLATE } from "./universe/interpolate.ts";
import { UNIVERSE } from "./universe/universe.ts";

let known: Library | null = null;

/** Made once in a process: packages are parsed when a script first imports them. */
export function fluxLibrary(): Library {
  known ??= new Library([
    BOOLEAN,
    UNIVERSE,
    INFLUXDB,
    ARRAY,
    CSV,
    STRINGS,
    MATH,
    DATE,
    BOUNDARIES,
    TIMEZONE,
    TYPES,
    BITWISE,
    DICT,
    SCHEMA,
    V1,
    JOIN,
    JSON_PACKAGE,
    EXPERIMENTAL_JSON,
    DYNAMIC_PACKAGE,
    DEBUG,
    GENERATE,
    EXPERIMENTAL,
    GEO,
    INTERPOLATE,
    AGGREGATE,
    EXPERIMENTAL_ARRAY,
    PLANNER,
    PROFILER,
    QUERY,
    RECORD,
    RUNTIME,
    SYSTEM,
    TABLE,
    TASKS,
    ...[TESTING, INTERNAL_TESTING, TESTUTIL, EXPECT],
    ...[PROMQL, INFLUXQL, LOCATION, GEN, SECRETS, PROMETHEUS],
    ...[EVENTS, POLYLINE, HASH, HEX, OEE, STATSMODELS, ANOMALY_DETECTION, NAIVE_BAYES],
    ...[CLICKHOUSE, LOGQL, USAGE, JSTERNBERG_INFLUXDB, SAMPLE, SAMPLEDATA, EXPERIMENTAL_CSV],
    ...[DATE_BOUNDARIES, EXPERIMENTAL_BITWISE, SQL, BIGTABLE, IOX, MQTT, KAFKA, SOCKET],
    REGEXP,
    MONITOR,
    TICKSCRIPT,
    ...[HTTP, EXPERIMENTAL_HTTP, REQUESTS, EXPERIMENTAL_REQUESTS, INFLUXDB_API],
    ...[SLACK, TELEGRAM, DISCORD, TEAMS, WEBEX_TEAMS, PUSHBULLET, PAGERDUTY],
    ...[OPSGENIE, SENSU, VICTOROPS, ALERTA, ZENOSS, SERVICENOW, BIGPANDA],
  ]);
  return known;
}
