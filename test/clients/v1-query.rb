# The Ruby client of Debian (ruby-influxdb) against the v1 endpoints at the given port. Prints what it got as JSON.
require "influxdb"
require "json"

place = { host: "127.0.0.1", port: Integer(ARGV.fetch(0)), retry: false }
server = InfluxDB::Client.new(**place)
server.create_database("rb")
client = InfluxDB::Client.new("rb", time_precision: "ns", **place)
START = 1_700_000_000_000_000_000

def refusal
  yield
  nil
rescue InfluxDB::Error => error
  "#{error.class}: #{error.message}"
end

client.write_point("cpu", values: { v: 1.5, n: 3, s: "x \"y\" \\", b: true }, tags: { host: "a, b" }, timestamp: START)
client.write_points([2, 3].map { |i| { series: "cpu", values: { v: i.to_f }, tags: { host: "h#{i}" }, timestamp: START + i } })
client.create_retention_policy("week", "rb", "INF", 1)
client.write_point("kept", { values: { v: 9 }, timestamp: START }, nil, "week")
later = InfluxDB::Client.new("rb", time_precision: "ns", async: { max_post_points: 100, sleep_interval: 0.1 }, **place)
300.times { |i| later.write_point("async", values: { i: i }, timestamp: START + i) }
later.stop!

chunks = []
InfluxDB::Client.new("rb", chunk_size: 2, **place).query("SELECT v FROM cpu") { |_, _, points| chunks << points.length }
groups = []
client.query("SELECT max(v) FROM cpu GROUP BY host", epoch: "ns") { |name, tags, points| groups << [name, tags, points] }

found = {
  library: InfluxDB::VERSION,
  version: server.version,
  ping: server.ping.code,
  databases: server.list_databases,
  rows: client.query("SELECT * FROM cpu WHERE time = #{START}").first,
  bound: client.query("SELECT v FROM cpu WHERE host = %{host}", params: { host: "h3" }, epoch: "ns"),
  groups: groups,
  chunks: chunks,
  raw: client.query("SELECT v FROM cpu LIMIT 1", denormalize: false),
  series: client.list_series,
  fields: client.show_field_keys,
  policies: server.list_retention_policies("rb").map { |policy| policy.values_at("name", "duration", "default") },
  policy: client.query("SELECT v FROM week.kept", epoch: "ns"),
  async: client.query("SELECT count(i), sum(i) FROM async", epoch: "ns"),
  parse: refusal { client.query("SELEC") },
  unknown: refusal { InfluxDB::Client.new("nowhere", **place).query("SELECT v FROM cpu") },
  line: refusal { client.write("nonsense", "ns") }
}
client.delete_series("cpu")
found[:left] = client.list_series
server.delete_database("rb")
found[:gone] = server.list_databases
puts JSON.generate(found)
