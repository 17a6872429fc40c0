// Templates that the vendor's community publishes: the same resources come of them as on the vendor's server, and the same exports.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { ask } from "../../api/v2-ask.ts";
import { applyTemplate } from "./community.ts";
import { type LightServer, lightServerOf } from "./light-server.ts";

const FOLDER = join(import.meta.dir, "community");
const names = readdirSync(join(FOLDER, "templates"));
const source = Bun.serve({ port: 0, fetch: ({ url }) => new Response(Bun.file(join(FOLDER, "templates", new URL(url).pathname))) });
let server: LightServer;

beforeAll(async () => {
  server = await lightServerOf();
  const setup = { username: "admin", password: "password12", org: "o", bucket: "bucket", token: "tok" };
  expect((await ask(server, "POST", "/api/v2/setup", undefined, setup)).status).toBe(201);
});
afterAll(async () => {
  await source.stop(true);
  await server.stop();
});

test("there are more than a dozen", () => {
  expect(names.length).toBeGreaterThan(12);
});

for (const name of names) {
  test(`${name} applies, is exported and uninstalled as on the vendor's server`, async () => {
    const wanted = await Bun.file(join(FOLDER, "exports", name.replace(/yml$/, "json"))).json();
    expect(wanted).toMatchObject({ status: 201, left: 0 });
    expect(await applyTemplate(server, `http://127.0.0.1:${source.port}/${name}`)).toEqual(wanted);
  });
}
