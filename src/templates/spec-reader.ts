// Reads the members of a resource's `spec`. Any text may be a reference to the environment of the request (`envRef`) or to a secret of the
// organization (`secretRef`). Errors are collected, so that one answer reports all of them.
import type { Issue } from "./issue.ts";
import { isMembers, type Members } from "./template-object.ts";

export type EnvValue = string | number | boolean;

export interface EnvReference {
  readonly resourceField: string;
  readonly envRefKey: string;
  /** Type of a script's parameter. */
  readonly valueType?: string;
  readonly value: EnvValue | null;
  readonly defaultValue: EnvValue | null;
}

/** The key of a secret, the secret itself, or neither (null). */
export type SecretValue = { readonly key: string } | { readonly value: string } | null;

/** Collects errors and references while a resource is read. */
export interface Reading {
  readonly kind: string;
  readonly metaName: string;
  readonly index: number;
  readonly env: ReadonlyMap<string, EnvValue>;
  readonly issues: Issue[];
  readonly references: EnvReference[];
  readonly secretKeys: string[];
}

interface Step {
  readonly name: string;
  readonly index: number | null;
}

const NAME_LENGTH_MIN = 2;
/** Kinds whose names have a least length. */
const HAVE_LONG_NAMES: ReadonlySet<string> = new Set(["Bucket", "Dashboard", "Label"]);
/** In characters. A script is read, checked and formatted in one step: 1 MB takes 1 to 2 seconds. */
const SCRIPT_LENGTH_MAX = 1 << 18;

/** Reads the members of `spec`, or of an item of a list in it. */
export class SpecReader {
  constructor(
    private readonly reading: Reading,
    private readonly members: Members,
    private readonly path: readonly Step[] = [
      { name: "root", index: reading.index },
      { name: "spec", index: null },
    ],
  ) {}

  has(name: string): boolean {
    return this.members[name] !== undefined && this.members[name] !== null;
  }

  /** "": absent, or no text. */
  text(name: string): string {
    return textIn(this.resolved(name, true)) ?? "";
  }

  /** A text that cannot be a reference. "": absent, or no text. */
  plainText(name: string): string {
    return textIn(this.members[name]) ?? "";
  }

  /** "": absent or too long. */
  script(name: string): string {
    const text = this.text(name);
    if (text.length <= SCRIPT_LENGTH_MAX) return text;
    this.issue(name, `has ${text.length} characters, and may have ${SCRIPT_LENGTH_MAX}`);
    return "";
  }

  /** The display name; default: the name in the metadata. Its least length is in bytes. */
  displayName(metaName: string): string {
    const name = this.text("name") || metaName;
    const isShort = Buffer.byteLength(name) < NAME_LENGTH_MIN && HAVE_LONG_NAMES.has(this.reading.kind);
    if (isShort) this.issue("name", `must be a string of at least ${NAME_LENGTH_MIN} chars in length`);
    return name;
  }

  secret(name: string): SecretValue {
    const value = this.members[name];
    if (isMembers(value) && isMembers(value["secretRef"])) {
      const key = value["secretRef"]["key"];
      if (typeof key !== "string" || key === "") {
        this.issue(name, "a secretRef needs a key");
        return null;
      }
      this.reading.secretKeys.push(key);
      return { key };
    }
    const text = this.text(name);
    return text === "" ? null : { value: text };
  }

  /** 0: absent. */
  number(name: string): number {
    const value = this.resolved(name);
    if (value === undefined || value === null) return 0;
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (typeof number === "number" && Number.isFinite(number)) return number;
    this.issue(name, "must be a number");
    return 0;
  }

  boolean(name: string): boolean {
    const value = this.resolved(name);
    if (value === undefined || value === null) return false;
    if (typeof value === "boolean") return value;
    if (value === "true" || value === "false") return value === "true";
    this.issue(name, "must be true or false");
    return false;
  }

  /** The items of a list that are objects. */
  list(name: string): SpecReader[] {
    return this.items(name).flatMap((item, index) => {
      if (isMembers(item)) return [new SpecReader(this.reading, item, [...this.path, { name, index }])];
      this.issue(name, "must be an object", index);
      return [];
    });
  }

  /** The items that are objects of what may be a list. */
  listIfAny(name: string): SpecReader[] {
    const given = this.members[name];
    const items = Array.isArray(given) ? given.filter(isMembers) : [];
    return items.map((item, index) => new SpecReader(this.reading, item, [...this.path, { name, index }]));
  }

  /** The items that are texts of what may be a list. */
  textsIfAny(name: string): string[] {
    const given = this.members[name];
    return Array.isArray(given) ? given.flatMap((item) => textIn(item) ?? []) : [];
  }

  texts(name: string): string[] {
    return this.items(name).map(String);
  }

  /** The items that are numbers. */
  numbers(name: string): number[] {
    return this.items(name).flatMap((item, index) => {
      const number = typeof item === "string" && item.trim() !== "" ? Number(item) : item;
      if (typeof number === "number" && Number.isFinite(number)) return [number];
      this.issue(name, "must be a number", index);
      return [];
    });
  }

  /** The members of an object; empty if absent. */
  object(name: string): SpecReader {
    const value = this.members[name];
    const isAbsent = value === undefined || value === null;
    if (!isAbsent && !isMembers(value)) this.issue(name, "must be an object");
    return new SpecReader(this.reading, isMembers(value) ? value : {}, [...this.path, { name, index: null }]);
  }

  /** The request's value for a key, as parameters of scripts have; null: none. */
  given(key: string): EnvValue | null {
    return this.reading.env.get(key) ?? null;
  }

  refer(reference: EnvReference): void {
    this.reading.references.push(reference);
  }

  /** The path below the resource: `spec.charts[0].queries[1]`. */
  get place(): string {
    return pathText(this.path.slice(1));
  }

  get metaName(): string {
    return this.reading.metaName;
  }

  /** The member as written, with unresolved references. */
  raw(name: string): unknown {
    return this.members[name];
  }

  /** @param index the item, if the field is a list */
  issue(name: string, reason: string, index: number | null = null): void {
    const path = [...this.path, { name, index }];
    const { kind, issues } = this.reading;
    issues.push({ kind, fields: path.map((step) => step.name), idxs: path.map((step) => step.index), reason });
  }

  private items(name: string): readonly unknown[] {
    const value = this.members[name];
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value;
    this.issue(name, "must be a list");
    return [];
  }

  /** Environment values other than text do not replace a text. */
  private resolved(name: string, isText = false): unknown {
    const value = this.members[name];
    if (!isMembers(value) || !isMembers(value["envRef"])) return value;
    const { key, default: given } = value["envRef"];
    if (typeof key !== "string" || key === "") {
      this.issue(name, "an envRef needs a key");
      return "";
    }
    const defaultValue = isEnvValue(given) ? given : null;
    const envValue = this.reading.env.get(key) ?? null;
    const resourceField = pathText([...this.path.slice(1), { name, index: null }]);
    this.reading.references.push({ resourceField, envRefKey: key, value: envValue, defaultValue });
    const usable = isText && typeof envValue !== "string" ? null : envValue;
    return usable ?? defaultValue ?? `env-${key}`;
  }
}

function pathText(steps: readonly Step[]): string {
  return steps.map(({ name, index }) => (index === null ? name : `${name}[${index}]`)).join(".");
}

/** Numbers are texts, without an exponent; null for what is no text. */
export function textIn(value: unknown): string | null {
  if (typeof value === "string") return value;
  return typeof value === "number" ? value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 20 }) : null;
}

/** True for a type that a reference may have. */
export function isEnvValue(value: unknown): value is EnvValue {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}
