// Scripts that the scan answers in whole or in part, and scripts that it does not: over the rows of pushdown.long.test.ts.

const HOUR = "range(start: 2024-03-05T10:00:00Z, stop: 2024-03-05T11:00:00Z)";
const YEAR = "range(start: 2024-01-15T07:00:00Z, stop: 2024-11-02T12:00:00Z)";
export const of = (filter: string, range = HOUR) => `from(bucket: "b") |> ${range} |> filter(fn: (r) => ${filter})`;
const CPU = of('r._measurement == "cpu"');
const NUMBERS = of('r._measurement == "cpu" and (r._field == "usage" or r._field == "load")');
const USAGE = of('r._measurement == "cpu" and r._field == "usage"');
const MEM = of('r._measurement == "mem"');
const PAIR = of('r._measurement == "pair"');
const DAYS = of('r._measurement == "days"', YEAR);
const FUNCTIONS = ["count", "sum", "mean", "min", "max", "first", "last"];

/** Scripts that the scan answers. */
export const LEFT: readonly string[] = [
  // numbers are counted together, whatever their types
  `${of('r._measurement == "left" or r._measurement == "right"')} |> group() |> count()`,
  ...FUNCTIONS.flatMap((fn) => [
    `${NUMBERS} |> aggregateWindow(every: 7m, fn: ${fn})`,
    // rows of one table in the order of the tables
    `${NUMBERS} |> aggregateWindow(every: 7m, fn: ${fn}) |> toFloat() |> group()`,
    `${NUMBERS} |> ${fn}() |> toFloat() |> group()`,
    `${NUMBERS} |> aggregateWindow(every: 5m, fn: ${fn}, createEmpty: false) |> toFloat() |> map(fn: (r) => ({r with x: 1})) |> group(columns: ["region"])`,
    `${NUMBERS} |> aggregateWindow(every: 5m, fn: ${fn}, createEmpty: false)`,
    `${NUMBERS} |> group(columns: ["_field"]) |> aggregateWindow(every: 3m, fn: ${fn})`,
    `${NUMBERS} |> group(columns: ["_field", "region"]) |> aggregateWindow(every: 11m, offset: 90s, fn: ${fn}, createEmpty: false)`,
    `${USAGE} |> group() |> aggregateWindow(every: 2m, fn: ${fn}, timeSrc: "_start")`,
    `${MEM} |> group(columns: ["slot"]) |> aggregateWindow(every: 9m, fn: ${fn})`,
    `${MEM} |> aggregateWindow(every: 1m, fn: ${fn}) |> fill(value: ${fn === "count" ? "0" : "0.0"})`,
    `${USAGE} |> filter(fn: (r) => r._value > 40 and r.host != "b") |> group() |> ${["min", "max", "first", "last"].includes(fn) ? `aggregateWindow(every: 10m, fn: ${fn})` : `${fn}() // not left`}`,
    `${of('r._measurement == "cpu" and r._field == "load" and r._value >= 0')} |> aggregateWindow(every: 10m, fn: ${fn})`,
    `${DAYS} |> aggregateWindow(every: 1mo, fn: ${fn}, createEmpty: false)`,
    `${DAYS} |> aggregateWindow(every: 1mo, fn: ${fn})`,
    `option location = {zone: "Europe/Berlin", offset: 0h}\n${DAYS} |> aggregateWindow(every: 1d, fn: ${fn})`,
    `import "timezone"\n${DAYS} |> aggregateWindow(every: 1w, fn: ${fn}, location: timezone.fixed(offset: -3h), createEmpty: false)`,
    `${DAYS} |> aggregateWindow(every: 1d, fn: ${fn}, offset: 1mo2h, location: {zone: "Europe/Berlin", offset: 90m})`,
    `${of('r._measurement == "one"')} |> aggregateWindow(every: 10m, fn: ${fn})`,
    `from(bucket: "b") |> range(start: 0) |> filter(fn: (r) => r._measurement == "one") |> aggregateWindow(every: 1m, fn: ${fn}, createEmpty: false)`,
  ]),
  ...FUNCTIONS.flatMap((fn) => [
    `${NUMBERS} |> ${fn}()`,
    `${NUMBERS} |> group(columns: ["_field", "region"]) |> ${fn}()`,
    `${MEM} |> group() |> ${fn}()`,
    `${of('r._measurement == "one"')} |> ${fn}()`,
    `${of('r._measurement == "cpu" and r._field == "usage" and r._value < 10.0')} |> ${fn}()`,
    `${of('r.nothing == "x"')} |> ${fn}()`,
    `${of('r._measurement == "nothing"')} |> ${fn}()`,
  ]),
  `${NUMBERS} |> stddev()`,
  `${USAGE} |> group() |> stddev(mode: "population")`,
  `${NUMBERS} |> group(columns: ["_field", "region"]) |> stddev()`,
  `${of('r._field == "free"')} |> group(columns: ["host", "_time", "_value"], mode: "except") |> stddev()`,
  `${of('r.nothing == "x"')} |> stddev()`,
  `${NUMBERS} |> spread()`,
  `${MEM} |> group() |> spread()`,
  `${NUMBERS} |> group(columns: ["_field", "region"]) |> spread()`,
  `${of('r._measurement == "many"')} |> spread()`,
  `${of('r._measurement == "one" or r._measurement == "huge"')} |> spread()`,
  `${USAGE} |> filter(fn: (r) => r._value < 60 and r.host != "b") |> spread()`,
  `${of('r._field == "free"')} |> group(columns: ["host", "_time", "_value"], mode: "except") |> spread()`,
  `${of('r.nothing == "x"')} |> spread()`,
  `${MEM} |> keep(columns: ["_time", "_value", "host"]) |> spread()`,
  ...["min", "max", "first", "last"].flatMap((fn) => [
    `${PAIR} |> ${fn}()`,
    `${PAIR} |> group(columns: ["_field"]) |> ${fn}()`,
    `${USAGE} |> filter(fn: (r) => r._value < 60 and r.host != "b") |> ${fn}()`,
    `${of('r.host == "a" and r._field == "free" and r._value > 100')} |> ${fn}()`,
    `${DAYS} |> ${fn}()`,
    `${of('r._measurement == "many"')} |> ${fn}()`,
    `${of('r._measurement == "many" and r._value > 3 and r.host != "h5"')} |> group(columns: ["_field"]) |> ${fn}()`,
    `${of('r._measurement == "huge"')} |> ${fn}()`,
  ]),
  // series that differ in columns that nothing reads
  ...["sum", "mean", "min", "max", "first"].flatMap((fn) =>
    [MEM, PAIR, of('r._measurement == "pair" or r._measurement == "right"')].flatMap((rows) => [
      ...[
        '["_time", "_value"]',
        '["_time", "_value", "_field"]',
        '["_time", "_value", "host", "slot"]',
        '["slot", "_value", "zone", "none"]',
      ].flatMap((labels) => [
        `${rows} |> group() |> aggregateWindow(every: 6m, fn: ${fn}, createEmpty: false) |> keep(columns: ${labels})`,
        `${rows} |> group(columns: ["slot"]) |> aggregateWindow(every: 6m, fn: ${fn}) |> keep(columns: ${labels})`,
        `${rows} |> group(columns: ["_field", "host"]) |> aggregateWindow(every: 6m, fn: ${fn}) |> sort(columns: ["zone"]) |> limit(n: 5) |> keep(columns: ${labels})`,
      ]),
      `${rows} |> group(columns: ["host", "_time", "_value"], mode: "except") |> aggregateWindow(every: 6m, fn: ${fn})`,
      `${rows} |> group() |> aggregateWindow(every: 6m, fn: ${fn}, createEmpty: false) |> tail(n: 3) |> keep(columns: ["_value", "_measurement"])`,
      `${rows} |> filter(fn: (r) => r.zone =~ /./ or not exists r.zone) |> group() |> aggregateWindow(every: 6m, fn: ${fn}) |> keep(columns: ["_value"])`,
      `data = ${rows} |> group() |> aggregateWindow(every: 6m, fn: ${fn})\ndata |> keep(columns: ["_value"]) |> yield(name: "a")\ndata |> yield(name: "b")`,
      `${rows} |> group(columns: ["host", "_time", "_value"], mode: "except") |> ${fn}()`,
    ]),
  ),
  // columns that nothing reads behind windows are in no table, and series that differ in them stay apart
  ...["count", "mean", "max", "last"].flatMap((fn) =>
    [MEM, PAIR, `${CPU} |> filter(fn: (r) => r.host =~ /[ab]/ and r._field == "usage")`].flatMap((rows) =>
      ['["_time", "_value", "_field", "host"]', '["_value", "_start", "slot", "none"]', '["region", "_measurement", "_value"]'].flatMap(
        (labels) => [
          `${rows} |> aggregateWindow(every: 6m, fn: ${fn}, createEmpty: false) |> keep(columns: ${labels})`,
          `${rows} |> aggregateWindow(every: 6m, fn: ${fn}) |> sort(columns: ["zone", "_time"]) |> limit(n: 4) |> keep(columns: ${labels})`,
        ],
      ),
    ),
  ),
  // columns that go before windows
  ...["count", "mean", "min", "max", "first"].flatMap((fn) =>
    [MEM, PAIR, of('r._measurement == "many" and r._field == "w"')].flatMap((rows) =>
      [
        'keep(columns: ["_time", "_value", "host"])',
        'keep(columns: ["_value", "_time", "_start", "_stop"])',
        'drop(columns: ["host", "_start", "zone"])',
      ].flatMap((columns) => [
        `${rows} |> ${columns} |> aggregateWindow(every: 6m, fn: ${fn})`,
        `${rows} |> ${columns} |> ${fn}()`,
        `${rows} |> ${columns} |> group(columns: ["slot", "host"]) |> aggregateWindow(every: 11m, fn: ${fn}, createEmpty: false)`,
        `${rows} |> filter(fn: (r) => r.host =~ /[ab1]/) |> ${columns} |> aggregateWindow(every: 20m, fn: ${fn}) |> keep(columns: ["_value", "host"])`,
      ]),
    ),
  ),
  // values of columns that a series has one of
  ...["host", "_field", "slot", "_measurement", "_stop", "none"].flatMap((column) => [
    ...[CPU, of("true")].map((rows) => `${rows} |> distinct(column: "${column}")`),
    ...[USAGE, MEM, `${USAGE} |> filter(fn: (r) => r._value > 70)`, `${USAGE} |> drop(columns: ["site"])`].flatMap((rows) => [
      `${rows} |> group() |> distinct(column: "${column}")`,
      `${rows} |> group(columns: ["_field", "region"]) |> distinct(column: "${column}") |> sort()`,
    ]),
  ]),
  // one row of each series, where neither times nor values are left
  ...[CPU, MEM, PAIR, USAGE, of("true"), of('r._measurement == "left" or r._measurement == "right"')].flatMap((rows) =>
    ['keep(columns: ["host", "slot", "_field"])', 'drop(columns: ["_time", "_value", "host"])', 'keep(columns: ["none"])'].flatMap(
      (columns) => [
        `${rows} |> ${columns} |> distinct(column: "slot")`,
        `${rows} |> ${columns} |> group() |> distinct(column: "host")`,
        `${rows} |> ${columns} |> group(columns: ["slot"]) |> distinct(column: "_field")`,
        `${rows} |> filter(fn: (r) => r.host =~ /[ab1]/) |> ${columns} |> group() |> distinct(column: "_field")`,
      ],
    ),
  ),
  `${NUMBERS} |> drop(columns: ["region"]) |> aggregateWindow(every: 6m, fn: max)`,
  // the latest windows
  ...["max", "mean", "count", "last"].flatMap((fn) =>
    [
      USAGE,
      MEM,
      `${USAGE} |> filter(fn: (r) => r._value > 60)`,
      of('r._measurement == "cpu" and r._field == "load"', "range(start: 2024-01-01T00:00:00Z)"),
    ].flatMap((rows) => {
      const windows = `${rows} |> group() |> aggregateWindow(every: 1m, fn: ${fn}, createEmpty: false)`;
      return [
        `${windows} |> sort(columns: ["_time"], desc: true) |> limit(n: 3, offset: 1)`,
        `${windows} |> tail(n: 2)`,
        `${windows} |> tail(n: 500)`,
      ];
    }),
  ),
  `${USAGE} |> group() |> aggregateWindow(every: 1m, fn: max) |> tail(n: 2)`,
  `${USAGE} |> group(columns: ["host"]) |> aggregateWindow(every: 1m, fn: max, createEmpty: false) |> tail(n: 2)`,
  `data = ${USAGE} |> group() |> aggregateWindow(every: 1m, fn: max, createEmpty: false)\ndata |> tail(n: 2) |> yield(name: "a")\ndata |> yield(name: "b")`,
  // all types of fields
  ...["count", "first", "last"].flatMap((fn) => [`${CPU} |> ${fn}()`, `${CPU} |> aggregateWindow(every: 13m, fn: ${fn})`]),
  `${of('r._field == "note" and r._value == "n1"')} |> count()`,
  `${of('r._field == "up" and r._value == true')} |> last()`,
  `${of('r._field == "up" and r._value != true')} |> count()`,
  ...["==", "!=", "<", "<=", ">", ">="].flatMap((operator) => [
    `${of(`r._field == "load" and r._value ${operator} 2`)} |> count()`,
    `${of(`r._field == "usage" and 50 ${operator} r._value`)} |> count()`,
  ]),
  ...["<", "<=", ">", ">=", "=="].map((operator) => `${of(`r._field == "load" and r._value ${operator} 1.5`)} |> count()`),
  `low = -1\n${of('r._field == "load" and r._value > low')} |> sum()`,
  `${of('r._measurement == "cpu" and exists r.region and r.host =~ /[ab]/ and r._field == "usage"')} |> mean()`,
  `${of('r._measurement =~ /^(cpu|mem)$/ and r._field != "note" and r._field != "up"')} |> mean()`,
  `${of("true")} |> count()`,
];

const PIVOT = 'pivot(rowKey: ["_time"], columnKey: ["_field"], valueColumn: "_value")';

/** Scripts that read whole rows. */
export const ROWS: readonly string[] = [
  ...[CPU, NUMBERS, USAGE, MEM, PAIR, of("true"), of('r.host == "b"'), of('r.nothing == "x"')].flatMap((rows) => [
    `${rows} |> ${PIVOT}`,
    `${rows} |> ${PIVOT} |> filter(fn: (r) => r.usage > 50.0)`,
    `${rows} |> ${PIVOT} |> group() |> sort(columns: ["_time"], desc: true) |> limit(n: 7)`,
  ]),
  `import "influxdata/influxdb/schema"\n${DAYS} |> schema.fieldsAsCols()`,
  `data = ${USAGE}\ndata |> ${PIVOT} |> yield(name: "a")\ndata |> count() |> yield(name: "b")`,
];

/** Scripts with a pivot that is computed from rows of fields. */
export const NOT_ROWS: readonly string[] = [
  `${of('r._measurement == "cpu" and r._field != "free"')} |> ${PIVOT}`,
  `${CPU} |> group(columns: ["host"]) |> ${PIVOT}`,
  `${USAGE} |> filter(fn: (r) => r._value > 50.0) |> ${PIVOT}`,
  `${CPU} |> filter(fn: (r) => r.host =~ /[ab]/) |> ${PIVOT}`,
  `${MEM} |> pivot(rowKey: ["_time"], columnKey: ["host", "_field"], valueColumn: "_value")`,
  `${MEM} |> pivot(rowKey: ["_time", "host"], columnKey: ["_field"], valueColumn: "_value")`,
  `${CPU} |> limit(n: 2) |> ${PIVOT}`,
];

const SPRING = "start: 2024-03-05T10:00:00Z, stop: 2024-03-05T10:10:00Z";
const PREDICATES = [
  "true",
  'r._measurement == "cpu"',
  'r._measurement == "cpu" and r.host == "b"',
  'r.host == "a" or r.host == "c"',
  'r.slot == "1"',
  'r.usage == "x"',
  'r.host == ""',
  'r._measurement == "nothing"',
  // by field, and by more than equality
  'r._field == "note"',
  'r._measurement == "cpu" and r._field != "usage" and r.region =~ /^e/',
  "not exists r.slot",
  "r._measurement =~ /^[cm]/",
];

/** Scripts that read the first rows of each series. */
export const FIRST: readonly string[] = [
  CPU,
  NUMBERS,
  MEM,
  PAIR,
  DAYS,
  of("true"),
  `${USAGE} |> filter(fn: (r) => r._value > 70)`,
  `${MEM} |> filter(fn: (r) => r.host =~ /1/)`,
  of('r._measurement == "many"', "range(start: 0)"),
  of("true", "range(start: 0)"),
].flatMap((rows) =>
  ["n: 1", "n: 3", "n: 2, offset: 4", "n: 20, offset: 35", "n: 5, offset: -2"].map((rest) => `${rows} |> limit(${rest})`),
);

/** Scripts that need the first or latest rows in an order. */
export const ENDS: readonly string[] = [
  ...[
    CPU,
    NUMBERS,
    USAGE,
    MEM,
    PAIR,
    DAYS,
    of("true"),
    `${USAGE} |> filter(fn: (r) => r._value > 70)`,
    of('r._measurement == "many"', "range(start: 0)"),
  ].flatMap((rows) => [
    ...[
      "",
      " |> group()",
      ' |> group(columns: ["host", "_measurement"])',
      ' |> group(columns: ["_field"])',
      ' |> group(columns: ["_time"])',
    ].flatMap((group) => [
      ...[
        'columns: ["_time"], desc: true',
        'columns: ["_time"]',
        'columns: ["_value"], desc: true',
        'columns: ["slot", "_value"]',
        'columns: ["none", "host"], desc: true',
      ].map((order) => `${rows}${group} |> sort(${order}) |> limit(n: 3)`),
      `${rows}${group} |> sort(columns: ["_time"], desc: true) |> limit(n: 2, offset: 1)`,
      `${rows}${group} |> sort(columns: ["_time"], desc: true) |> limit(n: 40)`,
    ]),
    `${rows} |> group() |> top(n: 4)`,
    `${rows} |> group(columns: ["region"]) |> bottom(n: 2, columns: ["_value", "_time"])`,
    `${rows} |> group(columns: ["host", "_time", "_value"], mode: "except") |> sort(columns: ["_time"], desc: true) |> limit(n: 2)`,
    `${rows} |> ${PIVOT} |> group() |> sort(columns: ["_time"], desc: true) |> limit(n: 5)`,
    `${rows} |> tail(n: 2)`,
    `${rows} |> tail(n: 3, offset: 2)`,
    `${rows} |> tail(n: 30)`,
    `data = ${rows} |> group()\ndata |> sort(columns: ["_value"]) |> limit(n: 2) |> yield(name: "a")\ndata |> count() |> yield(name: "b")`,
    `data = ${rows} |> group() |> sort(columns: ["_time"], desc: true)\ndata |> limit(n: 2) |> yield(name: "a")\ndata |> limit(n: 4) |> yield(name: "b")`,
  ]),
];

/** Lists, from dictionaries or from one row of each series. */
export const LISTED: readonly string[] = [
  ...PREDICATES.flatMap((predicate) => [
    ...["host", "slot", "_measurement", "_field", "usage", "none"].map(
      (tag) =>
        `import "influxdata/influxdb/schema"\nschema.tagValues(bucket: "b", tag: "${tag}", predicate: (r) => ${predicate}, ${SPRING})`,
    ),
    `import "influxdata/influxdb/schema"\nschema.tagKeys(bucket: "b", predicate: (r) => ${predicate}, ${SPRING})`,
    `import "influxdata/influxdb/schema"\nschema.fieldKeys(bucket: "b", predicate: (r) => ${predicate}, ${SPRING})`,
  ]),
  ...[CPU, MEM, PAIR, DAYS, of("true"), of('r.host == "b"'), of('r.host == "none"'), of('r._measurement == "none"')].flatMap((rows) =>
    ["host", "slot", "_measurement", "_field"].flatMap((tag) => [
      `${rows} |> keep(columns: ["${tag}"]) |> group() |> distinct(column: "${tag}")`,
      `${rows} |> keep(columns: ["${tag}"]) |> group(columns: ["_start"]) |> distinct(column: "${tag}") |> limit(n: 1)`,
      `${rows} |> keep(columns: ["${tag}"]) |> distinct(column: "${tag}")`,
    ]),
  ),
  `import "influxdata/influxdb/schema"\nschema.measurements(bucket: "b", start: 2024-03-30T00:00:00Z, stop: 2024-04-02T00:00:00Z)`,
  `import "influxdata/influxdb/schema"\nschema.measurementTagValues(bucket: "b", measurement: "mem", tag: "host", ${SPRING})`,
  `import "influxdata/influxdb"\ninfluxdb.cardinality(bucket: "b", start: 1970-01-01T00:00:00Z)`,
  `import "influxdata/influxdb"\ninfluxdb.cardinality(bucket: "b", ${SPRING})`,
  `import "influxdata/influxdb"\ninfluxdb.cardinality(bucket: "b", ${SPRING}, predicate: (r) => r._measurement == "cpu" and r.host == "a")`,
  `import "influxdata/influxdb"\ninfluxdb.cardinality(bucket: "b", ${SPRING}, predicate: (r) => r._field == "note")`,
  `import "influxdata/influxdb"\ninfluxdb.cardinality(bucket: "b", ${SPRING}, predicate: (r) => r.host != "a")`,
  `import "influxdata/influxdb"\ninfluxdb.cardinality(bucket: "b", ${SPRING}, predicate: (r) => r._field == "usage" and r._value > 30.0)`,
  `import "influxdata/influxdb"\ninfluxdb.cardinality(bucket: "b", ${SPRING}, predicate: (r) => r.host =~ /[bh]/ and not exists r.slot)`,
];

/** Scripts that read rows: the scan cannot do them, or gives up. */
export const NOT_LEFT: readonly string[] = [
  `${USAGE} |> distinct()`,
  `${USAGE} |> distinct(column: "_time")`,
  // two types in one group
  `${NUMBERS} |> group() |> aggregateWindow(every: 1m, fn: max, createEmpty: false) |> tail(n: 2)`,
  `${of('r._measurement == "huge"')} |> sum()`,
  `${of('r._measurement == "left" or r._measurement == "right"')} |> group() |> sum()`,
  `${CPU} |> mean()`,
  `${NUMBERS} |> drop(columns: ["_field"]) |> count()`,
  `${USAGE} |> keep(columns: ["_value", "host"]) |> count()`,
  `${USAGE} |> keep(fn: (column) => column != "host") |> mean()`,
  `${USAGE} |> group(columns: ["region"]) |> drop(columns: ["host"]) |> mean()`,
  `${CPU} |> aggregateWindow(every: 10m, fn: max)`,
  `${USAGE} |> filter(fn: (r) => r._value > 40 and r.host != "b") |> mean()`,
  `${USAGE} |> filter(fn: (r) => r._value < 60 and r.host != "b") |> stddev()`,
  `${USAGE} |> filter(fn: (r) => r._time > 2024-03-05T10:20:00Z) |> mean()`,
  `${USAGE} |> filter(fn: (r) => r._value > 99.75, onEmpty: "keep") |> count()`,
  `${USAGE} |> aggregateWindow(every: 5m, period: 10m, fn: mean)`,
  `${USAGE} |> aggregateWindow(every: 5m, fn: max, timeSrc: "_time")`,
  `${USAGE} |> group(columns: ["_value"]) |> count()`,
  `${USAGE} |> group(columns: ["host"], mode: "except") |> count()`,
  `${USAGE} |> map(fn: (r) => ({r with _value: r._value * 2.0})) |> aggregateWindow(every: 5m, fn: mean)`,
  `${of('r._field == "load" and r._value != 1.5')} |> count()`,
  `${of('r._field == "note" and r._value > "n0"')} |> count()`,
  `${USAGE} |> aggregateWindow(every: 10m, fn: (column, tables=<-) => tables |> quantile(q: 0.5, column: column))`,
  // of the rows of groups only the values are read
  ...["quantile(q: 0.9)", 'quantile(q: 0.9, method: "exact_mean")', "median()", "stddev()", "skew()", "spread()", "mean()"].flatMap(
    (fn) => [
      `${USAGE} |> group(columns: ["region"]) |> ${fn} // rows of groups`,
      `${USAGE} |> group() |> ${fn} // rows of groups`,
      `${USAGE} |> group(columns: ["host", "_value"], mode: "except") |> ${fn} // rows of groups`,
      `${USAGE} |> group(columns: ["_time", "host"]) |> ${fn} // rows of groups`,
      `${USAGE} |> group(columns: ["host", "_value"]) |> ${fn} // rows of groups`,
      `${of('r._measurement == "left" or r._measurement == "right"')} |> group() |> ${fn} // rows of groups`,
      `g = ${USAGE} |> group(columns: ["region"])\ng |> ${fn} |> yield(name: "a")\ng |> yield(name: "b") // rows of groups`,
    ],
  ),
  `${USAGE} |> group(columns: ["region"]) |> stddev(column: "host")`,
  `${USAGE} |> group(columns: ["region"]) |> median(column: "_time")`,
];

export const NOT_LISTED: readonly string[] = [
  `${CPU} |> keep(columns: ["host"]) |> count(column: "host")`,
  `${CPU} |> keep(columns: ["host", "_time"]) |> group() |> distinct(column: "host")`,
  `${CPU} |> keep(columns: ["host"]) |> group() |> limit(n: 3)`,
  `import "influxdata/influxdb/schema"\nschema.tagValues(bucket: "b", tag: "host", predicate: (r) => r._time > 2024-03-05T10:05:00Z, ${SPRING})`,
];
