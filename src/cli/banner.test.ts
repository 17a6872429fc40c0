// The lines that a server prints when it is ready: what stands in them, and for whom the examples work.
import { expect, test } from "bun:test";
import { bannerOf } from "./banner.ts";

const CONFIG = { objectStore: "file", dataDir: "./.tsdb", withoutAuth: false, tls: null } as const;
const READY = {
  url: "http://127.0.0.1:8181",
  flightUrl: "http://127.0.0.1:8183",
  v2Url: null,
  wantsSetup: false,
  wantsOperator: false,
};

test("the banner says where Arrow Flight is and who is given that address", () => {
  const [http, flight, data] = bannerOf(CONFIG, READY).split("\n");
  expect(http).toContain("http://127.0.0.1:8181");
  for (const words of ["http://127.0.0.1:8183", "v3 client libraries", "Grafana's SQL mode", "HTTP too"]) expect(flight).toContain(words);
  expect(data).toBe("data: ./.tsdb");
  expect(bannerOf(CONFIG, { ...READY, flightUrl: null })).toContain("Arrow Flight is off");
});

test("the banner says where buckets are, and how their first user is made while there is none", () => {
  const v2Url = "http://127.0.0.1:8086";
  expect(bannerOf(CONFIG, { ...READY, v2Url })).toContain(v2Url);
  expect(bannerOf(CONFIG, { ...READY, v2Url })).not.toContain("tsdb setup");
  expect(bannerOf(CONFIG, { ...READY, v2Url, wantsSetup: true })).toContain("  tsdb setup --host http://127.0.0.1:8086 --username admin");
  expect(bannerOf(CONFIG, { ...READY, wantsSetup: true })).not.toContain("tsdb setup");
  const secured = { ...CONFIG, tls: "self-signed" } as const;
  expect(bannerOf(secured, { ...READY, v2Url, wantsSetup: true })).toContain("8086 --tls-ca '.tsdb/tls/certificate.pem' --username");
});

test("tokens are spoken of where they count", () => {
  expect(bannerOf(CONFIG, { ...READY, wantsOperator: true })).toContain(
    "curl -X POST 'http://127.0.0.1:8181/api/v3/configure/token/admin'",
  );
  expect(bannerOf(CONFIG, READY)).not.toContain("configure/token");
  expect(bannerOf({ ...CONFIG, withoutAuth: true }, READY)).not.toMatch(/token/i);
});

test.each([
  [{ tls: null }, "curl '"],
  [{ tls: { cert: "c", key: "k" } }, "curl '"],
  [{ tls: "self-signed" }, "curl --cacert '.tsdb/tls/certificate.pem' '"],
  [{ tls: "self-signed", dataDir: "/it's here" }, "curl --cacert '/it'\\''s here/tls/certificate.pem' '"],
  [{ tls: "self-signed", objectStore: "memory" }, "curl -k '"],
] as const)("with %j the examples begin with %s", (more, start) => {
  const lines = bannerOf({ ...CONFIG, ...more }, { ...READY, url: "https://localhost:8181" }).split("\n");
  const examples = lines.filter((line) => line.startsWith("  "));
  expect(examples.length).toBe(2);
  for (const example of examples) expect(example).toStartWith(`  ${start}`);
});
