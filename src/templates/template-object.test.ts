// YAML whose aliases stand for much: a small text must not become a large value.
import { describe, expect, test } from "bun:test";
import { readObjects, readYaml } from "./template-object.ts";

const MEGABYTE = "x".repeat(1e6);
const aliases = (count: number) => ", *a".repeat(count);

test("aliases of texts, lists and members", () => {
  expect(readYaml("a: &a text\nb: *a\nc: [&b [1], *b]\nd: {<<: &d {e: *a}}")).toEqual({
    ...{ a: "text", b: "text", c: [[1], [1]] },
    d: { e: "text" },
  });
  // what looks like an alias, and has no anchor
  expect(readYaml(`&b q: "**bold** r._value *100 /a.*b/ ${MEGABYTE}"\nc: "0 * * * *"`)).toMatchObject({ c: "0 * * * *" });
});

describe("aliases stand for 64 Mi characters", () => {
  test.each([
    ["of a text", (count: number) => `- [&a "${MEGABYTE}"${aliases(count)}]`],
    ["of a list with a text", (count: number) => `- [&a ["${MEGABYTE}"]${aliases(count)}]`],
    ["of members", (count: number) => `- [&a {k: "${MEGABYTE}"}${aliases(count)}]`],
    ["of a name", (count: number) => `- [&a {${MEGABYTE}: 1}${aliases(count)}]`],
    ["with an anchor that is a text", (count: number) => `- [&a "${MEGABYTE}", "&a"${aliases(count)}]`],
    ["over several lines", (count: number) => `- &a "${MEGABYTE}"\n${"- *a\n".repeat(count)}`],
  ])("%s", (_, text) => {
    expect(() => readYaml(text(1500))).toThrow("yaml: its texts have more than 67108864 characters, aliases resolved");
    expect(readYaml(text(60))).toBeArray();
  });

  test("aliases within aliases", () => {
    // 100 + 100 * 100 + 100 * 100 * 100 thousands of characters
    const hundred = (of: string) => Array(100).fill(`*${of}`).join(",");
    const text = `- &a "${"x".repeat(1000)}"\n- &b [${hundred("a")}]\n- &c [${hundred("b")}]\n- [${hundred("c")}]`;
    expect(() => readYaml(text)).toThrow(/aliases resolved|Excessive aliasing/);
  });
});

test("a value within itself", () => expect(() => readYaml("- &a [*a]")).toThrow("yaml: more than 64 levels deep"));

test.each([
  [[["x".repeat(1000)]], "json: cannot unmarshal array into a resource"],
  ["text", "json: cannot unmarshal string into a list of resources"],
  [[{ kind: { a: 1 } }], "json: cannot unmarshal object into a text as kind"],
  [[true], "json: cannot unmarshal bool into a resource"],
  [[{ spec: 1 }], "json: cannot unmarshal number into an object as spec"],
])("%j is told by its kind", (value, message) => expect(() => readObjects(value)).toThrow(message));
