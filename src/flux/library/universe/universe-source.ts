// Types of what is native in the package, and what is made of that.

export const UNIVERSE_SOURCE = `
builtin bool : (v: A) => bool
builtin bytes : (v: A) => bytes
builtin chandeMomentumOscillator : (<-tables: stream[A], n: int, ?columns: [string]) => stream[B] where A: Record, B: Record
builtin columns : (<-tables: stream[A], ?column: string) => stream[B] where A: Record, B: Record
builtin contains : (value: A, set: [A]) => bool where A: Nullable
builtin count : (<-tables: stream[A], ?column: string) => stream[B] where A: Record, B: Record
builtin covariance : (<-tables: stream[A], ?pearsonr: bool, ?valueDst: string, columns: [string]) => stream[B] where A: Record, B: Record
builtin cumulativeSum : (<-tables: stream[A], ?columns: [string]) => stream[B] where A: Record, B: Record
builtin derivative : (<-tables: stream[A], ?unit: duration, ?nonNegative: bool, ?columns: [string], ?timeColumn: string, ?initialZero: bool) => stream[B] where A: Record, B: Record
builtin die : (msg: string) => A
builtin difference : (<-tables: stream[T], ?nonNegative: bool, ?columns: [string], ?keepFirst: bool, ?initialZero: bool) => stream[R] where T: Record, R: Record
builtin display : (v: A) => string
builtin distinct : (<-tables: stream[A], ?column: string) => stream[B] where A: Record, B: Record
builtin drop : (<-tables: stream[A], ?fn: (column: string) => bool, ?columns: [string]) => stream[B] where A: Record, B: Record
builtin duplicate : (<-tables: stream[A], column: string, as: string) => stream[B] where A: Record, B: Record
builtin duration : (v: A) => duration
builtin elapsed : (<-tables: stream[A], ?unit: duration, ?timeColumn: string, ?columnName: string) => stream[B] where A: Record, B: Record
builtin exponentialMovingAverage : (<-tables: stream[{B with _value: A}], n: int) => stream[{B with _value: A}] where A: Numeric
builtin fill : (<-tables: stream[A], ?column: string, ?value: B, ?usePrevious: bool) => stream[C] where A: Record, C: Record
builtin filter : (<-tables: stream[A], fn: (r: A) => bool, ?onEmpty: string) => stream[A] where A: Record
builtin findColumn : (<-tables: stream[A], fn: (key: B) => bool, column: string) => [C] where A: Record, B: Record
builtin findRecord : (<-tables: stream[A], fn: (key: B) => bool, idx: int) => A where A: Record, B: Record
builtin first : (<-tables: stream[A], ?column: string) => stream[A] where A: Record
builtin float : (v: A) => float
builtin getColumn : (<-table: stream[A], column: string) => [B] where A: Record
builtin getRecord : (<-table: stream[A], idx: int) => A where A: Record
builtin group : (<-tables: stream[A], ?mode: string, ?columns: [string]) => stream[A] where A: Record
builtin histogram : (<-tables: stream[A], ?column: string, ?upperBoundColumn: string, ?countColumn: string, bins: [float], ?normalize: bool) => stream[B] where A: Record, B: Record
builtin histogramQuantile : (<-tables: stream[A], ?quantile: float, ?countColumn: string, ?upperBoundColumn: string, ?valueColumn: string, ?minValue: float, ?onNonmonotonic: string) => stream[B] where A: Record, B: Record
builtin holtWinters : (<-tables: stream[A], n: int, interval: duration, ?withFit: bool, ?column: string, ?timeColumn: string, ?seasonality: int, ?withMinSSE: bool) => stream[B] where A: Record, B: Record
builtin inf : duration
builtin int : (v: A) => int
builtin integral : (<-tables: stream[A], ?unit: duration, ?timeColumn: string, ?column: string, ?interpolate: string) => stream[B] where A: Record, B: Record
builtin join : (<-tables: A, ?method: string, ?on: [string]) => stream[B] where A: Record, B: Record
builtin kaufmansAMA : (<-tables: stream[A], n: int, ?column: string) => stream[B] where A: Record, B: Record
builtin keep : (<-tables: stream[A], ?columns: [string], ?fn: (column: string) => bool) => stream[B] where A: Record, B: Record
builtin keyValues : (<-tables: stream[A], ?keyColumns: [string]) => stream[{C with _key: string, _value: B}] where A: Record, C: Record
builtin keys : (<-tables: stream[A], ?column: string) => stream[B] where A: Record, B: Record
builtin last : (<-tables: stream[A], ?column: string) => stream[A] where A: Record
builtin length : (<-arr: [A]) => int
builtin limit : (<-tables: stream[A], n: int, ?offset: int) => stream[A]
builtin linearBins : (start: float, width: float, count: int, ?infinity: bool) => [float]
builtin logarithmicBins : (start: float, factor: float, count: int, ?infinity: bool) => [float]
builtin map : (<-tables: stream[A], fn: (r: A) => B, ?mergeKey: bool) => stream[B]
builtin max : (<-tables: stream[A], ?column: string) => stream[A] where A: Record
builtin mean : (<-tables: stream[A], ?column: string) => stream[B] where A: Record, B: Record
builtin min : (<-tables: stream[A], ?column: string) => stream[A] where A: Record
builtin mode : (<-tables: stream[A], ?column: string) => stream[{C with _value: B}] where A: Record, C: Record
builtin movingAverage : (<-tables: stream[{B with _value: A}], n: int) => stream[{B with _value: float}] where A: Numeric
builtin pivot : (<-tables: stream[A], rowKey: [string], columnKey: [string], valueColumn: string) => stream[B] where A: Record, B: Record
builtin quantile : (<-tables: stream[A], ?column: string, q: float, ?compression: float, ?method: string) => stream[A] where A: Record
builtin range : (<-tables: stream[{A with _time: time}], start: B, ?stop: C) => stream[{A with _time: time, _start: time, _stop: time}]
builtin reduce : (<-tables: stream[A], fn: (r: A, accumulator: B) => B, identity: B) => stream[C] where A: Record, B: Record, C: Record
builtin relativeStrengthIndex : (<-tables: stream[A], n: int, ?columns: [string]) => stream[B] where A: Record, B: Record
builtin rename : (<-tables: stream[A], ?fn: (column: string) => string, ?columns: B) => stream[C] where A: Record, B: Record, C: Record
builtin sample : (<-tables: stream[A], n: int, ?pos: int, ?column: string) => stream[A] where A: Record
builtin set : (<-tables: stream[A], key: string, value: string) => stream[A] where A: Record
builtin skew : (<-tables: stream[A], ?column: string) => stream[B] where A: Record, B: Record
builtin sort : (<-tables: stream[A], ?columns: [string], ?desc: bool) => stream[A] where A: Record
builtin spread : (<-tables: stream[A], ?column: string) => stream[B] where A: Record, B: Record
builtin stateTracking : (<-tables: stream[A], fn: (r: A) => bool, ?countColumn: string, ?durationColumn: string, ?durationUnit: duration, ?timeColumn: string) => stream[B] where A: Record, B: Record
builtin stddev : (<-tables: stream[A], ?column: string, ?mode: string) => stream[B] where A: Record, B: Record
builtin string : (v: A) => string
builtin sum : (<-tables: stream[A], ?column: string) => stream[B] where A: Record, B: Record
builtin tableFind : (<-tables: stream[A], fn: (key: B) => bool) => stream[A] where A: Record, B: Record
builtin tail : (<-tables: stream[A], n: int, ?offset: int) => stream[A]
builtin time : (v: A) => time
builtin timeShift : (<-tables: stream[A], duration: duration, ?columns: [string]) => stream[A]
builtin tripleExponentialDerivative : (<-tables: stream[{B with _value: A}], n: int) => stream[{B with _value: float}] where A: Numeric, B: Record
builtin uint : (v: A) => uint
builtin union : (tables: [stream[A]]) => stream[A] where A: Record
builtin unique : (<-tables: stream[A], ?column: string) => stream[A] where A: Record
builtin yield : (<-tables: stream[A], ?name: string) => stream[A] where A: Record
builtin now : () => time
builtin location : {zone: string, offset: duration}
builtin window : (<-tables: stream[A], ?every: duration, ?period: duration, ?offset: duration, ?location: {zone: string, offset: duration}, ?timeColumn: string, ?startColumn: string, ?stopColumn: string, ?createEmpty: bool) => stream[B] where A: Record, B: Record
builtin hourSelection : (<-tables: stream[A], start: int, stop: int, ?location: {zone: string, offset: duration}, ?timeColumn: string) => stream[A] where A: Record
builtin _fillEmpty : (<-tables: stream[A]) => stream[A] where A: Record
builtin today : () => time
builtin _truncated : (t: A, unit: duration) => time where A: Timeable
builtin _abs : (x: float) => float

aggregateWindow = (tables=<-, every, fn, period=0s, offset=0s, location=location, column="_value", timeSrc="_stop", timeDst="_time", createEmpty=true) => {
    split = tables |> window(every, period, offset, location, createEmpty)
    found = split |> fn(column)
    whole = if createEmpty then found |> _fillEmpty() else found

    return whole |> duplicate(column: timeSrc, as: timeDst) |> window(every: inf, timeColumn: timeDst)
}
timedMovingAverage = (tables=<-, every, period, column="_value") =>
    tables |> window(every, period) |> mean(column) |> duplicate(column: "_stop", as: "_time") |> window(every: inf)
increase = (tables=<-, columns=["_value"]) =>
    tables |> difference(columns: columns, nonNegative: true, keepFirst: true, initialZero: true) |> cumulativeSum(columns)
median = (tables=<-, method="estimate_tdigest", compression=0.0, column="_value") => tables |> quantile(q: 0.5, method: method, compression: compression, column: column)
stateCount = (tables=<-, fn, column="stateCount") => tables |> stateTracking(fn: fn, countColumn: column)
stateDuration = (tables=<-, fn, column="stateDuration", timeColumn="_time", unit=1s) =>
    tables |> stateTracking(fn: fn, durationColumn: column, timeColumn: timeColumn, durationUnit: unit)
_ranked = (tables=<-, n, columns, desc) => tables |> sort(columns, desc) |> limit(n)
top = (tables=<-, n, columns=["_value"]) => tables |> _ranked(n: n, columns: columns, desc: true)
bottom = (tables=<-, n, columns=["_value"]) => tables |> _ranked(n: n, columns: columns, desc: false)
_rankedGroups = (tables=<-, n, column, groupColumns, pick, desc) =>
    tables |> group(columns: groupColumns) |> pick() |> group() |> _ranked(n: n, columns: [column], desc: desc)
highestMax = (tables=<-, n, column="_value", groupColumns=[]) =>
    tables |> _rankedGroups(n: n, column: column, groupColumns: groupColumns, pick: (tables=<-) => tables |> max(column), desc: true)
highestAverage = (tables=<-, n, column="_value", groupColumns=[]) =>
    tables |> _rankedGroups(n: n, column: column, groupColumns: groupColumns, pick: (tables=<-) => tables |> mean(column), desc: true)
highestCurrent = (tables=<-, n, column="_value", groupColumns=[]) =>
    tables |> _rankedGroups(n: n, column: column, groupColumns: groupColumns, pick: (tables=<-) => tables |> last(column), desc: true)
lowestMin = (tables=<-, n, column="_value", groupColumns=[]) =>
    tables |> _rankedGroups(n: n, column: column, groupColumns: groupColumns, pick: (tables=<-) => tables |> min(column), desc: false)
lowestAverage = (tables=<-, n, column="_value", groupColumns=[]) =>
    tables |> _rankedGroups(n: n, column: column, groupColumns: groupColumns, pick: (tables=<-) => tables |> mean(column), desc: false)
lowestCurrent = (tables=<-, n, column="_value", groupColumns=[]) =>
    tables |> _rankedGroups(n: n, column: column, groupColumns: groupColumns, pick: (tables=<-) => tables |> last(column), desc: false)
timeWeightedAvg = (tables=<-, unit) =>
    tables
        |> integral(unit: unit, interpolate: "linear")
        |> map(fn: (r) => ({r with _value: r._value * float(v: int(v: unit)) / float(v: int(v: r._stop) - int(v: r._start))}))
cov = (x, y, on, pearsonr=false) => join(tables: {x, y}, on: on) |> covariance(columns: ["_value_x", "_value_y"], pearsonr: pearsonr)
pearsonr = (x, y, on) => cov(x: x, y: y, on: on, pearsonr: true)
_emaTwice = (tables=<-, n) => tables |> exponentialMovingAverage(n) |> duplicate(column: "_value", as: "__first") |> exponentialMovingAverage(n)
doubleEMA = (tables=<-, n) =>
    tables |> _emaTwice(n) |> map(fn: (r) => ({r with _value: 2.0 * r.__first - r._value})) |> drop(columns: ["__first"])
tripleEMA = (tables=<-, n) =>
    tables
        |> _emaTwice(n)
        |> duplicate(column: "_value", as: "__second")
        |> exponentialMovingAverage(n)
        |> map(fn: (r) => ({r with _value: 3.0 * (r.__first - r.__second) + r._value}))
        |> drop(columns: ["__first", "__second"])
kaufmansER = (tables=<-, n) => tables |> chandeMomentumOscillator(n) |> map(fn: (r) => ({r with _value: _abs(x: r._value) / 100.0}))
truncateTimeColumn = (tables=<-, unit, timeColumn="_time") => tables |> map(fn: (r) => ({r with _time: _truncated(t: r._time, unit: unit)}))
toString = (tables=<-) => tables |> map(fn: (r) => ({r with _value: string(v: r._value)}))
toInt = (tables=<-) => tables |> map(fn: (r) => ({r with _value: int(v: r._value)}))
toUInt = (tables=<-) => tables |> map(fn: (r) => ({r with _value: uint(v: r._value)}))
toFloat = (tables=<-) => tables |> map(fn: (r) => ({r with _value: float(v: r._value)}))
toBool = (tables=<-) => tables |> map(fn: (r) => ({r with _value: bool(v: r._value)}))
toTime = (tables=<-) => tables |> map(fn: (r) => ({r with _value: time(v: r._value)}))
`;
