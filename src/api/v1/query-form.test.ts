// Bodies of /query that are to take long: they are refused for their number of values, before they are parsed.
import { describe, expect, test } from "bun:test";
import { BodyReader } from "../request/body.ts";
import { readQueryBody } from "../v2/query-body.ts";
import { readQueryForm } from "./query-form.ts";

const reader = new BodyReader(16 << 20, () => 0);
const request = (body: string, type = "application/json") =>
  new Request("http://localhost/query", { method: "POST", body, headers: { "content-type": type } });
const form = (body: string, type?: string) => readQueryForm({ request: request(body, type), target: { search: "" } } as never, reader);
const script = (body: string) => readQueryBody(request(body), reader, 0);
const lists = (count: number) => `[${"[],".repeat(count - 1)}[]]`;

const FORM = "application/x-www-form-urlencoded";

describe("more values than a request has parameters", () => {
  test.each([
    ["a JSON form", () => form(`{"q":"SELECT 1","params":{"a":${lists(100_001)}}}`), "the JSON body has more than 200000 values"],
    ["a form", () => form("a=1&".repeat(1000), FORM), "the form has more than 1000 fields"],
    ["a tree", () => script(`{"ast":${lists(100_001)}}`), "more than 200000 values"],
    ["a tree beside a script", () => script(`{"query":"x","ast":${lists(100_001)}}`), "more than 200000 values"],
    ["nothing but brackets", () => script("[".repeat(1_000_000)), "more than 200000 values"],
  ])("%s", async (_, read, message) => expect(read()).rejects.toThrow(message));
});

test("as many as there may be", async () => {
  const params = Object.fromEntries(Array.from({ length: 99_000 }, (_, i) => [`a${i}`, i]));
  expect(await form(JSON.stringify({ q: "SELECT 1", params }))).toEqual({ q: "SELECT 1", params: JSON.stringify(params) });
  expect(await form(`${"a=1&".repeat(999)}q=SELECT+1`, FORM)).toEqual({ q: "SELECT 1" });
  expect(await script(`{"ast":${lists(90_000)}}`)).toMatchObject({ text: "", ast: lists(90_000) });
});

test("numbers are as they were written, and texts are texts", async () => {
  const nul = String.raw`\u0000`;
  const params = `{"i":18446744073709551615,"f":3.0,"e":1e-7,"t":"${nul}0","q":"x\\"${nul}1","n":"${nul}","${nul}0":"k"}`;
  const written = params.replace("1e-7", "1.0e-7");
  expect(await form(`{"q":"SELECT 1","params":${params}}`)).toEqual({ q: "SELECT 1", params: written });
});

test("a long script is no reason", async () => {
  const query = `x = [${"1,".repeat(300_000)}1]`;
  expect(await script(JSON.stringify({ query }))).toMatchObject({ text: query, ast: null });
  expect(await form(JSON.stringify({ q: query }))).toEqual({ q: query });
});

test("a tree beside a script is not looked at", async () => {
  const ast = `${"[".repeat(5000)}${"]".repeat(5000)}`;
  expect(await script(`{"query":"x","ast":${ast}}`)).toMatchObject({ text: "x", ast: null });
  await expect(script(`{"ast":${ast}}`)).rejects.toThrow("ast is nested too deep");
});
