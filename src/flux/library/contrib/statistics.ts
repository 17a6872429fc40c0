// Packages that judge rows by statistics: regression, anomalies, classes, and how well machines run.
import type { LibraryPackage } from "../native-call.ts";

export const STATSMODELS: LibraryPackage = {
  path: "contrib/anaisdg/statsmodels",
  name: "statsmodels",
  source: `
linearRegression = (tables=<-) => {
    numbered =
        tables
            |> rename(columns: {_value: "y"})
            |> map(fn: (r) => ({r with x: 1.0}))
            |> cumulativeSum(columns: ["x"])
    sums =
        numbered
            |> reduce(
                identity: {N: 0.0, sx: 0.0, sy: 0.0, sxx: 0.0, sxy: 0.0},
                fn: (r, accumulator) =>
                    ({
                        N: accumulator.N + 1.0,
                        sx: accumulator.sx + r.x,
                        sy: accumulator.sy + r.y,
                        sxx: accumulator.sxx + r.x * r.x,
                        sxy: accumulator.sxy + r.x * r.y,
                    }),
            )
            |> tableFind(fn: (key) => true)
            |> getRecord(idx: 0)
    meanX = sums.sx / sums.N
    meanY = sums.sy / sums.N
    slope = (sums.sxy - meanX * meanY * sums.N) / (sums.sxx - sums.N * meanX * meanX)
    intercept = meanY - slope * meanX
    return
        numbered
            |> map(
                fn: (r) =>
                    ({r with
                        N: sums.N,
                        sx: sums.sx,
                        sy: sums.sy,
                        sxx: sums.sxx,
                        sxy: sums.sxy,
                        slope: slope,
                        y_hat: slope * r.x + intercept,
                    }),
            )
            |> map(fn: (r) => ({r with errors: (r.y - r.y_hat) ^ 2.0}))
}
`,
  natives: {},
};

/** The median absolute deviation of the values of each time; 1.4826 makes it agree with the standard deviation of a normal distribution. */
export const ANOMALY_DETECTION: LibraryPackage = {
  path: "contrib/anaisdg/anomalydetection",
  name: "anomalydetection",
  source: `
import "math"
mad = (table=<-, threshold=3.0) => {
    data = table |> group(columns: ["_time"])
    center = data |> median(column: "_value")
    diff =
        join(tables: {data: data, center: center}, on: ["_time"])
            |> map(fn: (r) => ({r with _value: math.abs(x: r._value_data - r._value_center)}))
            |> drop(columns: ["_start", "_stop", "_value_center", "_value_data"])
    diff_med =
        diff
            |> median(column: "_value")
            |> map(fn: (r) => ({r with MAD: 1.4826 * r._value}))
            |> filter(fn: (r) => r.MAD > 0.0)
    return
        join(tables: {diff: diff, diff_med: diff_med}, on: ["_time"])
            |> map(fn: (r) => ({r with _value: r._value_diff / r._value_diff_med}))
            |> map(fn: (r) => ({r with level: if r._value >= threshold then "anomaly" else "normal"}))
}
`,
  natives: {},
};

/** As the reference has it: days of January 2020 train the classifier and are classified, and names are those of its animals. */
export const NAIVE_BAYES: LibraryPackage = {
  path: "contrib/RohanSreerama5/naiveBayesClassifier",
  name: "naiveBayesClassifier",
  source: `
naiveBayes = (tables=<-, myClass, myField, myMeasurement) => {
    chosen = (tables=<-, start, stop) =>
        tables
            |> range(start: start, stop: stop)
            |> filter(fn: (r) => r._measurement == myMeasurement and r._field == myField)
            |> group()
    training = tables |> chosen(start: 2020-01-02T00:00:00Z, stop: 2020-01-06T23:00:00Z)
    questions = tables |> chosen(start: 2020-01-01T00:00:00Z, stop: 2020-01-01T23:00:00Z)
    counted = training |> group(columns: ["_field"]) |> count() |> tableFind(fn: (key) => key._field == myField) |> getRecord(idx: 0)
    total = counted._value
    classes =
        training
            |> group(columns: [myClass, "_field"])
            |> count()
            |> map(fn: (r) => ({r with p_k: float(v: r._value) / float(v: total), tc: total}))
            |> group()
    values =
        training
            |> group(columns: ["_value", "_field"])
            |> count(column: myClass)
            |> map(fn: (r) => ({r with p_x: float(v: r.airborne) / float(v: total), tc: total}))
    pairs =
        training
            |> group(columns: ["_field", "_value", myClass])
            |> reduce(identity: {sum: 0.0}, fn: (r, accumulator) => ({sum: accumulator.sum + 1.0}))
            |> group()
    likelihoods =
        join(tables: {P_k_x: pairs, P_Class_k: classes}, on: [myClass])
            |> group(columns: [myClass, "_value_P_k_x"])
            |> limit(n: 1)
            |> map(fn: (r) => ({r with P_x_k: r.sum / float(v: r._value_P_Class_k)}))
            |> drop(columns: ["_field_P_Class_k", "_value_P_Class_k"])
            |> rename(columns: {_field_P_k_x: "_field", _value_P_k_x: "_value"})
    probabilities =
        join(tables: {P_k_x_class: likelihoods, P_value_x: values}, on: ["_value", "_field"])
            |> map(fn: (r) => ({r with Probability: r.P_x_k * r.p_k / r.p_x}))
    asked = questions |> keep(columns: ["_value", "Animal_name", "_field"])
    return join(tables: {Probability_table: probabilities, r: asked}, on: ["_value"])
}
`,
  natives: {},
};

export const OEE: LibraryPackage = {
  path: "experimental/oee",
  name: "oee",
  source: `
import "contrib/tomhollingworth/events"
import "experimental"
_total = (tables=<-, column) =>
    tables
        |> difference(columns: [column], nonNegative: true)
        |> sum(column: column)
        |> duplicate(column: "_stop", as: "_time")
computeAPQ = (productionEvents, partEvents, runningState, plannedTime, idealCycleTime) => {
    planned = float(v: int(v: plannedTime))
    ideal = float(v: int(v: idealCycleTime))
    availability =
        productionEvents
            |> events.duration(unit: 1ns, columnName: "runTime")
            |> filter(fn: (r) => r.state == runningState)
            |> sum(column: "runTime")
            |> map(fn: (r) => ({r with _time: r._stop, availability: float(v: r.runTime) / planned}))
    parts = partEvents |> _total(column: "partCount")
    bad = partEvents |> _total(column: "badCount")
    performance =
        experimental.join(
            left: availability,
            right: parts,
            fn: (left, right) => ({left with performance: float(v: right.partCount) * ideal / float(v: left.runTime)}),
        )
    quality =
        experimental.join(
            left: bad,
            right: parts,
            fn: (left, right) =>
                ({left with quality: (float(v: right.partCount) - float(v: left.badCount)) / float(v: right.partCount)}),
        )
    return
        experimental.join(
            left: performance,
            right: quality,
            fn: (left, right) =>
                ({left with quality: right.quality, oee: left.availability * left.performance * right.quality}),
        )
}
APQ = (tables=<-, runningState, plannedTime, idealCycleTime) =>
    computeAPQ(
        productionEvents: tables,
        partEvents: tables,
        runningState: runningState,
        plannedTime: plannedTime,
        idealCycleTime: idealCycleTime,
    )
`,
  natives: {},
};
