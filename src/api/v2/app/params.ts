// Parameters of port 8086: query strings and JSON bodies, as the vendor's clients write them. Unknown ones are ignored; null is as absent.
import { type Static, type TObject, type TSchema, Type as t } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readOperator } from "../../../alerts/rule.ts";
import { requireUnits } from "../../../alerts/scripts/period.ts";
import { readId } from "../../../metadata/store/ids.ts";
import { near, TsdbError } from "../../../model/errors.ts";
import { decodeUtf8 } from "../../../model/query/query-params.ts";
import { BodyReader } from "../../request/body.ts";
import { shownMember } from "../../request/json-body.ts";
import { readBodyTime } from "./body-time.ts";
import { decoded } from "./decoded.ts";
import { type FirstValue, firstValue } from "./first-value.ts";

/** Largest JSON body: no resource is larger, and parsing one holds the event loop. */
const JSON_BYTES_MAX = 1 << 20;

/** Deeper values end the stack of what reads, compares and writes them. */
const JSON_DEPTH_MAX = 1000;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const OPEN_OBJECT = 0x7b;

/** The parameters of a query string, read when the first one is asked for. Each method throws TsdbError bad_request for bytes that
 *  are no UTF-8. */
export class SearchParams {
  private values: Map<string, string[]> | undefined;

  constructor(readonly text: string) {}

  /** The first value. Undefined where it is absent or empty: clients send empty ones for those that they do not mean. */
  get(name: string): string | undefined {
    const [first] = this.all(name);
    return first === "" ? undefined : first;
  }

  all(name: string): readonly string[] {
    this.values ??= parsed(this.text);
    return this.values.get(name) ?? [];
  }

  /** Of `name[key]=value`, the first value of each key. */
  ofMap(name: string): [key: string, value: string][] {
    this.values ??= parsed(this.text);
    return [...this.values].flatMap(([given, [value]]): [string, string][] =>
      given.startsWith(`${name}[`) && given.endsWith("]") ? [[given.slice(name.length + 1, -1), value!]] : [],
    );
  }

  /** @throws TsdbError bad_request */
  id(name: string): string | undefined {
    const text = this.get(name);
    return text === undefined ? undefined : readId(text);
  }
}

/** As on the vendor's server, a pair with a broken percent-encoding or a semicolon is as absent. */
function parsed(search: string): Map<string, string[]> {
  const values = new Map<string, string[]>();
  for (const pair of search.split("&")) {
    if (pair === "" || pair.includes(";") || /%(?![0-9A-Fa-f]{2})/.test(pair)) continue;
    const equals = pair.indexOf("=");
    const name = percentDecoded(equals < 0 ? pair : pair.slice(0, equals));
    const all = values.get(name) ?? [];
    all.push(percentDecoded(equals < 0 ? "" : pair.slice(equals + 1)));
    values.set(name, all);
  }
  return values;
}

function percentDecoded(encoded: string): string {
  if (!/[%+]/.test(encoded)) return encoded;
  try {
    return decodeURIComponent(encoded.replaceAll("+", " "));
  } catch {
    throw new TsdbError("bad_request", `invalid percent-encoding in the query string near "${near(encoded)}"`);
  }
}

/** What messages about a JSON body start with. */
const JSON_HEAD = "failed to unmarshal json: ";

/** An id in a JSON body. @throws TsdbError bad_request whose message starts with `head` */
export function idIn(text: string, head = JSON_HEAD): string {
  try {
    return readId(text);
  } catch (cause) {
    throw new TsdbError("bad_request", `${head}${(cause as Error).message}`, {}, { cause });
  }
}

/** A member that has to be an id, when it is there. Of several invalid members the first is told. */
export const IdText = t.Optional(t.String({ "x-id": true }));

/** A member that has to be a period, when it is there. */
export const PeriodText = t.Optional(t.String({ description: "As `1h30m`.", "x-period": true }));

/** What new records may bring: it has to be an id, and does not count. */
export const GivenId = t.Object({ id: IdText });

/** A member that has to be a time, when it is there. */
export const TimeText = t.Optional(t.String({ "x-time": true }));

/** What whole records may bring: they have to be times, and do not count where nothing else is said. */
export const GivenTimes = t.Object({ createdAt: TimeText, updatedAt: TimeText });

/** Reads JSON bodies. What stands behind their first value is not looked at, where nothing else is said. */
export class JsonBodies {
  private readonly reader: BodyReader;

  constructor(nowMs: () => number, bytesMax = JSON_BYTES_MAX) {
    this.reader = new BodyReader(bytesMax, nowMs, true);
  }

  /** Messages start with `head`. A body `null` is one without members; `nulls` has what members that are null stand for.
   *  @throws TsdbError bad_request, too_large; what reading throws */
  async read<T extends TObject>(
    schema: T,
    request: Request,
    head = JSON_HEAD,
    nulls: Readonly<Record<string, unknown>> = {},
  ): Promise<Static<T>> {
    return checkedMembers(schema, (await this.rawValue(request, head)) ?? {}, head, nulls);
  }

  /** The same of a body that may be empty, which is one without members. @throws as `read` */
  async readIfGiven<T extends TObject>(schema: T, request: Request, head: string): Promise<Static<T>> {
    return checkedMembers(schema, (await this.rawValue(request, head, {})) ?? {}, head);
  }

  /** Any JSON. @param ifEmpty what an empty body stands for; default: it is refused @throws as `read` */
  async rawValue(request: Request, head: string, ifEmpty?: unknown): Promise<unknown> {
    return (await this.first(request, head, ifEmpty)).value;
  }

  /** Any JSON, and what stands behind it. @throws as `read` */
  async first(request: Request, head: string, ifEmpty?: unknown): Promise<FirstValue> {
    const text = decodeUtf8(await this.reader.readWhole(request), `${head}the body is not valid UTF-8`, true);
    if (text === "" && ifEmpty !== undefined) return { value: ifEmpty, rest: "" };
    if (text.trim() === "") throw new TsdbError("bad_request", `${head}EOF`);
    if (depthOf(text) > JSON_DEPTH_MAX) throw new TsdbError("bad_request", `${head}exceeded max depth`);
    try {
      return firstValue(text);
    } catch (error) {
      throw new TsdbError("bad_request", `${head}invalid character: ${near((error as Error).message, 100)}`);
    }
  }
}

/** Lists and objects within each other, as far as the text is JSON. */
function depthOf(text: string): number {
  let [depth, deepest, isText] = [0, 0, false];
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (isText) {
      if (code === BACKSLASH) i++;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if (code === OPEN_LIST || code === OPEN_OBJECT) deepest = Math.max(deepest, ++depth);
    else if (code === OPEN_LIST + 2 || code === OPEN_OBJECT + 2) depth--;
  }
  return deepest;
}

/** The value as an object of the schema, as `decoded` takes it; messages start with `head`. @throws TsdbError bad_request */
export function checkedMembers<T extends TObject>(
  schema: T,
  raw: unknown,
  head = "",
  nulls: Readonly<Record<string, unknown>> = {},
): Static<T> {
  const value = decoded(schema, raw, nulls);
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new TsdbError("bad_request", `${head}json: cannot unmarshal ${shownMember(value)}: the body must be an object`);
  }
  checkTexts(schema, value, head);
  // looking for the first error alone takes ten times as long
  if (Value.Check(schema, value)) return value as Static<T>;
  const first = Value.Errors(schema, value).First()!;
  const member = first.path.slice(1).replaceAll("/", ".");
  const message = `${head}json: cannot unmarshal ${near(shownMember(first.value))} into \`${near(member)}\`: ${first.message.toLowerCase()}`;
  throw new TsdbError("bad_request", message);
}

/** Texts of their own forms, as release 2.8.0 reads them: in the order of the body, and before values of wrong types are told.
 *  @throws TsdbError bad_request */
function checkTexts(schema: TSchema, value: unknown, head: string): void {
  const { properties, items } = schema as Partial<Pick<TObject, "properties">> & { readonly items?: TSchema };
  if (Array.isArray(value)) {
    if (items !== undefined) for (const each of value) checkTexts(items, each, head);
  } else if (typeof value === "string") {
    if (schema["x-id"] === true) idIn(value, head);
    if (schema["x-time"] === true) readBodyTime(value, head);
    if (schema["x-period"] === true) requireUnits(value, head);
    if (schema["x-operator"] === true) readOperator(value, head);
  } else if (schema["x-time"] === true) {
    throw new TsdbError("bad_request", `${head}Time.UnmarshalJSON: input is not a JSON string`);
  } else if (properties !== undefined && typeof value === "object" && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      if (Object.hasOwn(properties, name)) checkTexts(properties[name]!, member, head);
    }
  }
}
