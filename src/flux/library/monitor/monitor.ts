// Package `influxdata/influxdb/monitor`: levels of rows, their changes, and what is sent about them.
import type { LibraryPackage } from "../native-call.ts";

export const MONITOR: LibraryPackage = {
  path: "influxdata/influxdb/monitor",
  name: "monitor",
  source: `
import "dict"
import "experimental"
import "influxdata/influxdb"
import "influxdata/influxdb/schema"
bucket = "_monitoring"
option write = (tables=<-) => tables |> experimental.to(bucket: bucket)
option log = (tables=<-) => tables |> experimental.to(bucket: bucket)
levelOK = "ok"
levelInfo = "info"
levelWarn = "warn"
levelCrit = "crit"
levelUnknown = "unknown"
_read = (measurement, start, stop, fn) =>
    influxdb.from(bucket: bucket)
        |> range(start: start, stop: stop)
        |> filter(fn: (r) => r._measurement == measurement)
        |> filter(fn: fn)
        |> schema.fieldsAsCols()
from = (start, stop=now(), fn=(r) => true) => _read(measurement: "statuses", start: start, stop: stop, fn: fn)
logs = (start, stop=now(), fn) => _read(measurement: "notifications", start: start, stop: stop, fn: fn)
_rows = (tables=<-) =>
    tables
        |> duplicate(column: "_level", as: "__level")
        |> drop(columns: ["_level"])
        |> rename(columns: {__level: "_level"})
        |> sort(columns: ["_source_timestamp", "_time"])
        |> difference(columns: ["__rank"])
_ranks = [levelOK: 1, levelInfo: 2, levelWarn: 3, levelCrit: 4]
stateChangesOnly = (tables=<-) =>
    tables
        |> map(fn: (r) => ({r with __rank: dict.get(dict: _ranks, key: if exists r._level then string(v: r._level) else "", default: 0)}))
        |> _rows()
        |> filter(fn: (r) => r.__rank != 0)
        |> drop(columns: ["__rank"])
        |> experimental.group(mode: "extend", columns: ["_level"])
_changes = (tables=<-, fromLevel, toLevel) => {
    isAfter =
        if toLevel == "any" then
            (r) => exists r._level and r._level != fromLevel
        else
            (r) => r._level == toLevel
    isBefore =
        if fromLevel == "any" then
            (r) => exists r._level and r._level != toLevel
        else
            (r) => r._level == fromLevel
    return
        tables
            |> map(fn: (r) => ({r with __rank: if isAfter(r: r) then 1 else if isBefore(r: r) then 0 else -10}))
            |> _rows()
            |> filter(fn: (r) => r.__rank == 1)
            |> drop(columns: ["__rank"])
            |> experimental.group(mode: "extend", columns: ["_level"])
}
stateChanges = (fromLevel="any", toLevel="any", tables=<-) =>
    if fromLevel == "any" and toLevel == "any" then
        tables |> stateChangesOnly()
    else
        tables |> _changes(fromLevel: fromLevel, toLevel: toLevel)
deadman = (t, tables=<-) => tables |> max(column: "_time") |> map(fn: (r) => ({r with dead: r._time < t}))
_tagged = (tables=<-, tags) =>
    tables
        |> experimental.set(o: tags)
        |> experimental.group(mode: "extend", columns: experimental.objectKeys(o: tags))
check = (tables=<-, data, messageFn, crit=(r) => false, warn=(r) => false, info=(r) => false, ok=(r) => true) =>
    tables
        |> _tagged(tags: data.tags)
        |> map(
            fn: (r) => {
                level =
                    if crit(r: r) then
                        levelCrit
                    else if warn(r: r) then
                        levelWarn
                    else if info(r: r) then
                        levelInfo
                    else if ok(r: r) then
                        levelOK
                    else
                        levelUnknown
                return {r with
                    _level: level,
                    _measurement: "statuses",
                    _source_measurement: r._measurement,
                    _check_id: data._check_id,
                    _check_name: data._check_name,
                    _type: data._type,
                    _source_timestamp: int(v: r._time),
                    _time: now(),
                }
            },
        )
        |> map(fn: (r) => ({r with _message: messageFn(r: r)}))
        |> experimental.group(mode: "extend", columns: ["_source_measurement", "_type", "_check_id", "_check_name", "_level"])
        |> write()
notify = (tables=<-, endpoint, data) =>
    tables
        |> _tagged(tags: data)
        |> map(fn: (r) => ({r with _measurement: "notifications", _status_timestamp: int(v: r._time), _time: now()}))
        |> endpoint()
        |> experimental.group(mode: "extend", columns: ["_sent"])
        |> log()
`,
  natives: {},
};
