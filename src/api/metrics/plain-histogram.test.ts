// Buckets: a value on a bound is within it, one above all bounds is only in +Inf.
import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { Buckets, registerHistogram } from "./plain-histogram.ts";

test("buckets are cumulative, and bounds are inclusive", async () => {
  const registry = new Registry();
  const buckets = new Buckets({ path: '/a"b' }, [0.1, 1]);
  registerHistogram(registry, { name: "t_seconds", help: "Time" }, () => [buckets]);
  for (const value of [0.05, 0.1, 0.2, 1, 7]) buckets.observe(value);
  expect(await registry.metrics()).toBe(`# HELP t_seconds Time
# TYPE t_seconds histogram
t_seconds_bucket{le="0.1",path="/a\\"b"} 2
t_seconds_bucket{le="1",path="/a\\"b"} 4
t_seconds_bucket{le="+Inf",path="/a\\"b"} 5
t_seconds_sum{path="/a\\"b"} 8.35
t_seconds_count{path="/a\\"b"} 5
`);
});
