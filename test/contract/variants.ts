// Good and bad requests of one operation, made from what the contract says of its parameters and members and from one good request.
import { gzipSync } from "node:zlib";
import type { OperationForm, Schema } from "./extract.ts";
import { type Good, LENIENT, REQUIRED } from "./good.ts";
import type { Sent } from "./world.ts";

export interface Variant {
  /** What is odd about it. */
  readonly what: string;
  readonly sent: Sent;
  /** Null: any status that is listed. */
  readonly wanted: "success" | number | null;
}

/** What a generation of the API does with what is odd. */
export interface VariantRules {
  /** `METHOD path: place.name` of which any value will do, or whose absence; with the reason. */
  readonly lenient: readonly { readonly what: RegExp; readonly why: string }[];
  /** Members that a body must have, where they are others than those of the schema. */
  readonly required: Readonly<Record<string, readonly string[]>>;
  /** Operations and odd bodies (`METHOD path: what`) that pass. */
  readonly lenientBodies: readonly { readonly what: RegExp; readonly why: string }[];
  /** Parameters and members (`query.name`) that are not left out: of two one is needed. */
  readonly kept: Readonly<Record<string, readonly string[]>>;
  /** Any member of the body means something. */
  readonly namesMembers: (key: string) => boolean;
  /** Bodies of JSON have to say what they are: 415. */
  readonly checksContentType: (key: string) => boolean;
  /** A body of one more byte is too large; null: there is no such limit, or it is too large to be tried. */
  readonly bytesMax: (key: string) => number | null;
}

const V3_RULES: VariantRules = {
  lenient: LENIENT,
  required: REQUIRED,
  lenientBodies: [],
  // rows of all times and tags are deleted only when a member says so
  kept: { "POST /api/v3/row_delete_requests": ["body.predicate"] },
  namesMembers: () => false,
  checksContentType: (key) => !key.includes("/query"),
  // files of imports are much larger than what is tried here
  bytesMax: (key) => (key.endsWith("/import") ? null : 10 * 1024 * 1024),
};

type Pairs = readonly (readonly [name: string, value: string])[];
type Members = Readonly<Record<string, unknown>>;

interface Parts {
  readonly query?: Pairs;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer> | null;
}

/** Of several of them a query string still is within the limit of a request's head. */
const LONG = "x".repeat(2000);
/** Values that are texts, and may be names of something or not. */
const ODD_TEXTS = [
  ...["", " ", "_internal", "a b", "a/b", "a/", "..", "../../etc/passwd", "'; DROP TABLE x; --", "%", "null", "0", "-1", "__proto__"],
  ...["constructor", "\u0000", "a\u0000b", "\n", "é", "µ", "\u{1f4a5}", "\ud800", "\ufeff", LONG, "1e999", "9".repeat(40), "*", "$h", "{}"],
];
const NOT_TEXTS = [5, true, [], {}, ["x"]];
const NOT_NUMBERS = ["x", "", 1.5, -1, 1e300, [], {}, true];
const HUGE_NUMBERS = [2 ** 31, 2 ** 53, 2 ** 63, Number.MAX_SAFE_INTEGER];
const NOT_LISTS = ["x", 5, {}, true];
const NOT_OBJECTS = ["x", 5, [], true];

const larges = new Map<number, { readonly text: string; readonly packed: Uint8Array<ArrayBuffer> }>();

function largerThan(bytes: number): { readonly text: string; readonly packed: Uint8Array<ArrayBuffer> } {
  const text = " ".repeat(bytes + 1);
  const found = larges.get(bytes) ?? { text, packed: new Uint8Array(gzipSync(text)) };
  larges.set(bytes, found);
  return found;
}

/** Makes good and bad requests from the description of an operation. */
export class Variants {
  private readonly method: string;
  private readonly path: string;
  private readonly pairs: Pairs;
  private readonly members: Members | null;
  private readonly isForm: boolean;

  constructor(
    private readonly key: string,
    private readonly operation: OperationForm,
    private readonly good: Good,
    private readonly rules = V3_RULES,
  ) {
    const [method, path] = key.split(" ") as [string, string];
    this.method = method;
    this.path = good.path ?? path;
    this.pairs = Object.entries(good.query ?? {});
    this.members = typeof good.body === "object" && !(good.body instanceof Uint8Array) ? good.body : null;
    this.isForm = method === "POST" && path === "/query";
  }

  /** With everything, with what is required, and with one of the rest at a time. */
  goodOnes(): Variant[] {
    const kept = this.rules.kept[this.key] ?? [];
    const optional = [...this.optionalQuery(), ...this.optionalMembers()].filter((name) => !kept.includes(name));
    const cuts = [[], optional, ...optional.map((name) => optional.filter((other) => other !== name))];
    const cases: Variant[] = cuts.map((cut) => ({
      what: cut.length === 0 ? "everything" : `without ${cut.join(", ")}`,
      sent: this.sent({
        query: this.pairs.filter(([name]) => !cut.includes(`query.${name}`)),
        ...(this.members === null ? {} : { body: this.json(omit(this.members, cut)) }),
      }),
      wanted: "success",
    }));
    cases.push({ what: "an unknown parameter", sent: this.sent({ query: [...this.pairs, ["unknown", "x"]] }), wanted: "success" });
    if (this.members !== null && !this.rules.namesMembers(this.key)) {
      cases.push({
        what: "an unknown member",
        sent: this.sent({ body: this.json({ ...this.members, unknown: { a: 1 } }) }),
        wanted: "success",
      });
    }
    if (this.hasBody) {
      const plain = this.wholeBody();
      const packed = new Uint8Array(gzipSync(plain));
      const headers = { ...this.headers(), "Content-Encoding": "gzip" };
      cases.push({ what: "a body in gzip", sent: this.sent({ headers, body: packed }), wanted: "success" });
    }
    return cases;
  }

  /** What is not there. */
  missing(): Variant[] {
    const names = this.operation.parameters.filter((each) => each.in === "query" && each.required).map((each) => each.name);
    const found = names.map((name) =>
      this.bad(`query.${name} missing`, `query.${name}`, { query: this.pairs.filter(([n]) => n !== name) }),
    );
    if (names.length > 0) found.push(this.bad("no query string", "query.", { query: [] }));
    for (const name of this.requiredMembers()) {
      found.push(this.bad(`body.${name} missing`, `body.${name}`, { body: this.json(omit(this.members!, [`body.${name}`])) }));
    }
    return found;
  }

  /** Parameters that no reader can take for what they should be. */
  brokenQuery(): Variant[] {
    if (this.pairs.length === 0) return [];
    const raw = (text: string) => ({ ...this.sent({}), path: `${this.path}?${text}` });
    const whole = new URLSearchParams(this.pairs.map(([name, value]) => [name, value])).toString();
    const name = this.pairs[0]![0];
    const cases: Variant[] = [
      { what: "a doubled parameter", sent: raw(`${whole}&${name}=x`), wanted: this.strict(`query.${name} twice`) },
      {
        what: "a broken escape",
        sent: raw(`${whole.replace(/^[^&]*&?/, "")}&${name}=%zz`),
        wanted: this.strict(`query.${name}`) && this.strict(`query.${name} with a broken escape`),
      },
      {
        what: "an escape that is no UTF-8",
        sent: raw(`${whole.replace(/^[^&]*&?/, "")}&${name}=%ff`),
        wanted: this.strict(`query.${name}`),
      },
      { what: "separators alone", sent: raw("&&&=&="), wanted: null },
    ];
    for (const { name: parameter, in: place, schema } of this.operation.parameters) {
      if (place !== "query" || (schema.type !== "boolean" && schema.enum === undefined)) continue;
      for (const value of schema.type === "boolean" ? ["maybe", "TRUE", "1", ""] : ["nonsense", "", "\u0000", LONG]) {
        const what = `query.${parameter}=${shown(value)}`;
        cases.push(this.bad(what, what, { query: this.with(parameter, value) }));
      }
    }
    return cases;
  }

  /** Members of a body that are of another type than the contract's. */
  wrongTypes(): Variant[] {
    const schema = this.bodySchema();
    if (schema === null || this.members === null) return [];
    return [...this.wrongMembers(schema, this.members, "body", (members) => members as Members)];
  }

  /** Invalid bodies. */
  brokenBodies(): Variant[] {
    if (!this.hasBody) return [];
    const whole = this.wholeBody();
    const text = String(whole);
    const gzip = { ...this.headers(), "Content-Encoding": "gzip" };
    const packed = new Uint8Array(gzipSync(whole));
    const bad = (what: string, parts: Parts, wanted = 400): Variant => {
      const passes = this.rules.lenientBodies.some((each) => each.what.test(`${this.key}: ${what}`));
      return { what, sent: this.sent(parts), wanted: passes ? null : wanted };
    };
    const cases = [
      bad("an unknown content encoding", { headers: { ...this.headers(), "Content-Encoding": "br" } }),
      bad("invalid gzip", { headers: gzip, body: whole }),
      bad("gzip cut in the middle", { headers: gzip, body: packed.slice(0, packed.length - 6) }),
      bad("gzip with a broken end", { headers: gzip, body: packed.map((byte, i) => (i === packed.length - 5 ? byte ^ 0xff : byte)) }),
      bad("no body", { body: null }),
      bad("an empty body", { body: "" }),
    ];
    const bytesMax = this.rules.bytesMax(this.key);
    if (bytesMax !== null) {
      const large = largerThan(bytesMax);
      cases.push(bad("too large", { body: large.text }, 413));
      cases.push(bad("too large when unpacked", { headers: gzip, body: large.packed }, 413));
    }
    if (this.members === null || this.isForm) return cases;
    for (const [what, body] of [
      ...[text.slice(0, -1), "{", "nonsense", "{'db':'x'}", '{"db":}', "\u0000"].map((body) => [`broken JSON ${shown(body)}`, body]),
      ...['"text"', "5", "null", "true", "[]", `[${text}]`].map((body) => [`${shown(body)} instead of an object`, body]),
    ] as [string, string][]) {
      cases.push(bad(what, { body }));
    }
    cases.push(bad("text behind the JSON", { body: `${text}}` }));
    cases.push(bad("no UTF-8", { body: new Uint8Array([...Buffer.from(text.slice(0, -2)), 0xff, 0xfe, ...Buffer.from(text.slice(-2))]) }));
    cases.push(bad("nested deep", { body: `${'{"a":['.repeat(50_000)}` }));
    if (this.rules.checksContentType(this.key)) {
      for (const type of ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "", "\ttext"]) {
        cases.push(bad(`content type ${shown(type)}`, { headers: { "Content-Type": type } }, 415));
      }
    }
    return cases;
  }

  /** Any value in any place; what becomes of it is the server's to say, in a status that is listed. */
  random(below: (n: number) => number, count: number): Variant[] {
    const schema = this.bodySchema();
    return Array.from({ length: count }, (_, i) => {
      const query = this.pairs.flatMap(([name, value]): [string, string][] => {
        const chance = below(4);
        return chance === 0 ? [[name, ODD_TEXTS[below(ODD_TEXTS.length)]!]] : chance === 1 ? [] : [[name, value]];
      });
      const members = this.members === null ? null : randomMembers(this.members, schema ?? {}, below);
      const sent = this.sent({ query, ...(members === null ? {} : { body: this.json(members) }) });
      return { what: `random request ${i}: ${shown(sent.path)} ${shown(sent.body ?? "")}`, sent, wanted: null };
    });
  }

  /** The good request, for senders without permission. */
  plain(): Sent {
    return this.sent({});
  }

  get hasBody(): boolean {
    return this.good.body !== undefined;
  }

  private *wrongMembers(schema: Schema, value: unknown, path: string, whole: (value: unknown) => Members): Generator<Variant> {
    for (const wrong of wrongValues(schema)) {
      const what = `${path}=${shown(wrong)}`;
      if (path !== "body") yield this.bad(what, what, { body: this.json(whole(wrong)) });
    }
    if (Array.isArray(value) && schema.items !== undefined && value.length > 0) {
      yield* this.wrongMembers(schema.items, value[0], `${path}.0`, (item) => whole([item, ...value.slice(1)]));
    } else if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      const members = value as Members;
      for (const [name, inner] of Object.entries(schema.properties ?? {})) {
        if (!Object.hasOwn(members, name)) continue;
        yield* this.wrongMembers(inner, members[name], `${path}.${name}`, (member) => whole({ ...members, [name]: member }));
      }
      if (path === "body") return;
      for (const name of schema.required ?? []) {
        yield this.bad(`${path}.${name} missing`, `${path}.${name}`, { body: this.json(whole(omit(members, [`body.${name}`]))) });
      }
    }
  }

  private bad(what: string, place: string, parts: Parts): Variant {
    return { what, sent: this.sent(parts), wanted: this.strict(place) };
  }

  /** `place`: `query.name`, or with the value that stands there, `body.name=5`. 400, or null where the contract lets pass what is odd. */
  private strict(place: string): number | null {
    return this.rules.lenient.some(({ what }) => what.test(`${this.key}: ${place}`)) ? null : 400;
  }

  private sent({ query = this.pairs, headers = this.headers(), body }: Parts): Sent {
    const search = new URLSearchParams(query.map(([name, value]) => [name, value.toWellFormed()])).toString();
    const path = search === "" ? this.path : `${this.path}?${search}`;
    const content = body === undefined ? (this.hasBody ? this.wholeBody() : null) : body;
    return { method: this.method, path, headers, body: content };
  }

  private headers(): Record<string, string> {
    return { ...(this.members === null ? {} : { "Content-Type": "application/json" }), ...this.good.headers };
  }

  private wholeBody(): string | Uint8Array<ArrayBuffer> {
    const { body } = this.good;
    return typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
  }

  private json(members: Members): string {
    return JSON.stringify(members);
  }

  private with(name: string, value: string): Pairs {
    return [...this.pairs.filter(([other]) => other !== name), [name, value]];
  }

  private bodySchema(): Schema | null {
    return this.operation.body["application/json"] ?? null;
  }

  private requiredMembers(): readonly string[] {
    return this.members === null ? [] : (this.rules.required[this.key] ?? this.bodySchema()?.required ?? []);
  }

  private optionalQuery(): string[] {
    const required = this.operation.parameters.filter((each) => each.in === "query" && each.required).map((each) => each.name);
    return this.pairs.filter(([name]) => !required.includes(name)).map(([name]) => `query.${name}`);
  }

  private optionalMembers(): string[] {
    const required = this.requiredMembers();
    return Object.keys(this.members ?? {})
      .filter((name) => !required.includes(name))
      .map((name) => `body.${name}`);
  }
}

function wrongValues({ type, enum: choices, nullable }: Schema): unknown[] {
  const none = nullable ? [] : [null];
  if (choices !== undefined) return [...none, "nonsense", "", 5, []];
  if (type === "string") return [...none, ...NOT_TEXTS];
  if (type === "integer") return [...none, ...NOT_NUMBERS];
  if (type === "array") return [...none, ...NOT_LISTS];
  return type === "object" ? [...none, ...NOT_OBJECTS] : [];
}

function randomMembers(members: Members, schema: Schema, below: (n: number) => number): Members {
  const pick = <T>(list: readonly T[]): T => list[below(list.length)]!;
  const changed = Object.entries(members).flatMap(([name, value]): [string, unknown][] => {
    const type = schema.properties?.[name]?.type;
    const chance = below(6);
    if (chance > 3) return [[name, value]];
    if (chance === 0) return [];
    if (chance === 1) return [[name, pick<unknown>([...wrongValues(schema.properties?.[name] ?? {}), null])]];
    if (type === "integer") return [[name, pick(HUGE_NUMBERS)]];
    if (type === "array") return [[name, [pick(ODD_TEXTS), pick(ODD_TEXTS)]]];
    return [[name, pick(ODD_TEXTS)]];
  });
  return Object.fromEntries(changed);
}

function omit(members: Members, cut: readonly string[]): Members {
  return Object.fromEntries(Object.entries(members).filter(([name]) => !cut.includes(`body.${name}`)));
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 60)}… (${text.length})` : text;
}
