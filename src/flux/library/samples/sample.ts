// Packages `influxdata/influxdb/sample` and `experimental/csv`: tables from files on the web.
import type { LibraryPackage } from "../native-call.ts";

const PLACE = "https://influx-testdata.s3.amazonaws.com/";
/** Name, file, size, whether it is updated, and what it holds. */
const SETS: readonly (readonly [name: string, file: string, size: string, type: string, description: string])[] = [
  ["airSensor", "air-sensor-data-annotated.csv", "~600 KB", "live", "Temperature, humidity and carbon monoxide in an office, simulated."],
  ["birdMigration", "bird-migration.csv", "~1.2 MB", "static", "Places of migrating birds in Africa in 2019."],
  ["bitcoin", "bitcoin-historical-annotated.csv", "~700 KB", "live", "Prices of bitcoin in the last 30 days."],
  ["machineProduction", "machine-production.csv", "~11.9 MB", "static", "States of four grinding stations on 2021-08-01."],
  ["noaa", "noaa-ndbc-latest-observations-annotated.csv", "~1.3 MB", "live", "Latest observations of buoys."],
  ["noaaWater", "noaa.csv", "~10.3 MB", "static", "Water levels at two stations in August and September 2019."],
  ["usgs", "usgs-earthquake-all-week-annotated.csv", "~6 MB", "live", "Earthquakes of the last week."],
];
const entries = SETS.map(([name, file, size, type, description]) => {
  const members = { name, description, url: PLACE + file, size, type };
  return `${JSON.stringify(name)}: {${Object.entries(members).map(([label, text]) => `${label}: ${JSON.stringify(text)}`)}}`;
});

export const SAMPLE: LibraryPackage = {
  path: "influxdata/influxdb/sample",
  name: "sample",
  source: `
import "array"
import "dict"
import "experimental/csv"
_sets = [${entries.join(", ")}]
_none = {name: "", description: "", url: "", size: "", type: ""}
_find = (set) => dict.get(dict: _sets, key: set, default: _none)
list = () => array.from(rows: [${SETS.map(([name]) => `_find(set: "${name}")`).join(", ")}])
data = (set) => {
    found = _find(set: set)
    url = if found.url == "" then die(msg: "Invalid sample data set. Use sample.list to view available datasets.") else found.url
    return csv.from(url: url)
}
alignToNow = (tables=<-) => {
    newest = (tables |> keep(columns: ["_time"]) |> last(column: "_time") |> findRecord(fn: (key) => true, idx: 0))._time
    return tables |> timeShift(duration: duration(v: int(v: now()) - int(v: newest)))
}
`,
  natives: {},
};

export const EXPERIMENTAL_CSV: LibraryPackage = {
  path: "experimental/csv",
  name: "csv",
  source: `
import c "csv"
import "experimental/http"
from = (url) => {
    answer = http.get(url: url)
    return c.from(csv: string(v: answer.body))
}
`,
  natives: {},
};
