// Samples as points: the format's own examples, and answers that are made to hurt.
import { describe, expect, test } from "bun:test";
import cases from "../../test/vectors/openmetrics/cases.json";
import { SampleLines } from "./sample-lines.ts";

function linesOf(text: string, format: "text" | "openmetrics" = "text"): string[] {
  const samples = new SampleLines(format, 5);
  for (const line of text.split("\n")) samples.read(line);
  return samples.take().join("").trimEnd().split("\n");
}

test("the types of families name the fields", () => {
  const text = `# HELP http_requests_total The total number of HTTP requests.
# TYPE http_requests_total counter
http_requests_total{method="post",code="200"} 1027 1395066363000
# TYPE temp gauge
temp -3.5
metric_without_timestamp_and_labels 12.47
# TYPE rpc_duration_seconds summary
rpc_duration_seconds{quantile="0.50",host="a"} 4773
rpc_duration_seconds_sum{host="a"} 1.7560473e+07
rpc_duration_seconds_count{host="a"} 2693
# TYPE lat histogram
lat_bucket{le="1e6"} 1
lat_bucket{le="0.00001"} 2
lat_bucket{le="+Inf"} 3
lat_count 3`;
  expect(linesOf(text)).toEqual([
    "http_requests_total,code=200,method=post counter=1027 1395066363000000000",
    "temp gauge=-3.5 5000000",
    "metric_without_timestamp_and_labels value=12.47 5000000",
    "rpc_duration_seconds,host=a 0.5=4773 5000000",
    "rpc_duration_seconds,host=a sum=17560473 5000000",
    "rpc_duration_seconds,host=a count=2693 5000000",
    "lat 1e+06=1 5000000",
    "lat 1e-05=2 5000000",
    "lat +Inf=3 5000000",
    "lat count=3 5000000",
  ]);
});

test("labels keep what is escaped in them", () => {
  const text = String.raw`m{path="C:\\DIR\\FILE.TXT",error="Cannot find:\n\"a, b\""} 1`;
  expect(linesOf(text)).toEqual([String.raw`m,error=Cannot\ find:\n"a\,\ b",path=C:\DIR\FILE.TXT value=1 5000000`]);
});

test("values that cannot be stored are left out", () => {
  expect(linesOf("a NaN\nb +Inf\nc 1")).toEqual(["c value=1 5000000"]);
});

test("OpenMetrics: seconds, exemplars, suffixes, and nothing behind the end", () => {
  const text = `# TYPE foo counter
# UNIT foo seconds
foo_total{a="b"} 17.0 1520879607.789 # {trace_id="KOO5S4vxi0o"} 0.67
foo_created{a="b"} 1520872607.123
# TYPE h gaugehistogram
h_bucket{le="0.1"} 8
h_gcount 8
h_gsum 1.5
# TYPE build info
build_info{version="1"} 1
# EOF
late 1`;
  expect(linesOf(text, "openmetrics")).toEqual([
    "foo_total,a=b counter=17 1520879607789000000",
    "h 0.1=8 5000000",
    "h count=8 5000000",
    "h sum=1.5 5000000",
    "build_info,version=1 gauge=1 5000000",
  ]);
});

describe("the format's own tests", () => {
  test.each(Object.entries(cases.parsed))("%s: every sample with a number is a line", (name, text) => {
    const samples = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    // a counter's beginning, and values and times that cannot be stored
    const left = samples.filter(
      (line) => !/^\w+_created\b|(?:^|\s)[+-]?(?:nan|inf)\b(?=\s|$)| \d{20}\./i.test(line.replace(/\{.*\}/, " ")),
    );
    const lines = linesOf(text, "openmetrics").filter((line) => line !== "");
    expect([name, lines.length]).toEqual([name, left.length]);
  });

  test.each(Object.entries(cases.refused))("%s is refused", (_, text) => {
    expect(() => linesOf(text, "openmetrics")).toThrow("text format parsing error");
  });
});

test("times of any length and form, as far as they can be stored", () => {
  const times = ["000", "0.0", "1.5e3", "-1.25", "0.0000000001", "12345678901234567890.1234567890", "9223372036.854", "9223372037"];
  const stored = linesOf(times.map((time, i) => `m${i} 1 ${time}`).join("\n"), "openmetrics");
  expect(stored).toEqual([
    ...["m0 value=1 0", "m1 value=1 0", "m2 value=1 1500000000000", "m3 value=1 -1250000000", "m4 value=1 0"],
    "m6 value=1 9223372036854000000",
  ]);
  for (const time of ["1e400", "1_0", "0x1", "nan", `1.${"0".repeat(80)}`]) expect(() => linesOf(`m 1 ${time}`, "openmetrics")).toThrow();
  for (const value of ["0x1", "0b1", "0o1", "1_2", "0x1p-3"]) expect(() => linesOf(`m ${value}`)).toThrow("expected float");
});

test.each(["<html>", "m{", 'm{a="b"', "m", "m x", "m 1 2 3", "m 1 1.5", 'm{a="b" c="d"} 1'])("%p is refused", (line) => {
  expect(() => linesOf(line)).toThrow();
});

test("a label without an end costs no more than reading it", () => {
  expect(() => linesOf(`m{${'a="'.repeat(20_000)}`)).toThrow();
});

test("points and families have limits", () => {
  const samples = new SampleLines("text", 5, 60);
  const line = "a value=1 5000000\n";
  for (let length = 0; length + line.length <= 60; length += line.length) samples.read("a 1");
  expect(() => samples.read("a 1")).toThrow("line 4: the points have more than 60 characters");
  const families = new SampleLines("text", 5);
  for (let i = 0; i < 100_000; i++) families.read(`# TYPE m${i} gauge`);
  expect(() => families.read("# TYPE one_more gauge")).toThrow("line 100001: more than 100000 families");
});

test("a sample has a length, and a comment has none", () => {
  const sample = (length: number) => `a{b="${"x".repeat(length - 9)}"} 1`;
  const samples = new SampleLines("text", 5);
  samples.read(sample(65_536));
  samples.read(`# HELP a ${"x".repeat(70_000)}`);
  expect(() => samples.read(sample(65_537))).toThrow("line 3: a sample has more than 65536 characters");
  expect(samples.take().join("")).toEndWith("x value=1 5000000\n");
});

test("the limit counts what lies in earlier parts too", () => {
  const samples = new SampleLines("text", 5, 3 << 20);
  const line = `a{b="${"x".repeat(1000)}"} 1`;
  expect(() => {
    for (let i = 0; i < 4000; i++) samples.read(line);
  }).toThrow("the points have more than 3145728 characters");
});

test("a name that objects have is no type", () => {
  expect(linesOf("# TYPE a constructor\na 1\n# TYPE toString gauge\ntoString 2")).toEqual([
    "a value=1 5000000",
    "toString gauge=2 5000000",
  ]);
});
