// Package `contrib/bonitoo-io/tickscript`: checks in the manner of the older alerting language.
import type { LibraryPackage } from "../native-call.ts";

export const TICKSCRIPT: LibraryPackage = {
  path: "contrib/bonitoo-io/tickscript",
  name: "tickscript",
  source: `
import "array"
import "experimental"
import "influxdata/influxdb/monitor"
import "influxdata/influxdb/schema"
import "universe"
defineCheck = (id, name, type="custom") => ({_check_id: id, _check_name: name, _type: type, tags: {}})
_byMeasurement = (tables=<-) => tables |> experimental.group(mode: "extend", columns: ["_measurement"])
alert = (
    check,
    id=(r) => "\${r._check_id}",
    details=(r) => "",
    message=(r) => "Threshold Check: \${r._check_name} is: \${r._level}",
    crit=(r) => false,
    warn=(r) => false,
    info=(r) => false,
    ok=(r) => true,
    topic="",
    tables=<-,
) => {
    named =
        tables
            |> drop(fn: (column) => column =~ /_(start|stop)/)
            |> map(fn: (r) => ({r with _check_id: check._check_id, _check_name: check._check_name}))
            |> map(fn: (r) => ({r with id: id(r: r)}))
            |> map(fn: (r) => ({r with details: details(r: r)}))
    withTopic =
        if topic == "" then
            named
        else
            named |> set(key: "_topic", value: topic) |> experimental.group(mode: "extend", columns: ["_topic"])
    return withTopic |> monitor.check(data: check, messageFn: message, crit: crit, warn: warn, info: info, ok: ok)
}
deadman = (
    check,
    measurement,
    threshold=0,
    id=(r) => "\${r._check_id}",
    message=(r) => "Deadman Check: \${r._check_name} is: " + (if r.dead then "dead" else "alive"),
    topic="",
    tables=<-,
) => {
    // a stream without tables has no count: a row of our own makes one
    placeholder =
        array.from(rows: [{_time: 2000-01-01T00:00:00Z, _measurement: measurement + "", _field: "__none", _value: 0}])
            |> _byMeasurement()
            |> schema.fieldsAsCols()
    found =
        union(tables: [placeholder, tables])
            |> keep(columns: ["_measurement", "_time"])
            |> duplicate(column: "_measurement", as: "__rows")
            |> count(column: "__rows")
            |> findColumn(fn: (key) => key._measurement == measurement, column: "__rows")
    rows = if found[0] == 1 then placeholder |> drop(columns: ["__none"]) |> filter(fn: (r) => false, onEmpty: "keep") else tables
    return
        rows
            |> duplicate(column: "_measurement", as: "__rows")
            |> count(column: "__rows")
            |> map(fn: (r) => ({r with _time: now(), dead: r.__rows <= threshold}))
            |> drop(columns: ["__rows"])
            |> alert(check: check, id: id, message: message, crit: (r) => r.dead, topic: topic)
}
_renamed = (tables=<-, column, as) => {
    before = column
    after = as
    return tables |> rename(fn: (column) => if column == before then after else column)
}
select = (column="_value", fn=(column, tables=<-) => tables, as, tables=<-) =>
    tables |> fn(column: column) |> _renamed(column: column, as: as)
selectWindow = (column="_value", fn, as, every, defaultValue, tables=<-) =>
    tables
        |> aggregateWindow(every: every, fn: fn, column: column, createEmpty: true)
        |> fill(column: column, value: defaultValue)
        |> _renamed(column: column, as: as)
compute = select
groupBy = (columns, tables=<-) => tables |> group(columns: columns) |> _byMeasurement()
join = (tables, on=["_time"], measurement) =>
    universe.join(tables: tables, on: on)
        |> map(fn: (r) => ({r with _measurement: measurement}))
        |> _byMeasurement()
`,
  natives: {},
};
