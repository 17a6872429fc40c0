// Reads the members of a resource's `spec`. Names and secrets may be references to the environment of the request (`envRef`), secrets
// also to those of the organization (`secretRef`). Errors are collected, so that one answer reports all of them.
import type { Issue } from "./issue.ts";
import { isMembers, type Members } from "./template-object.ts";

export type EnvValue = string | number | boolean;

export interface EnvReference {
  readonly resourceField: string;
  readonly envRefKey: string;
  /** Type of a script's parameter; "": a name. */
  readonly valueType: string;
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
  /** Keys of secrets in the environment. */
  readonly secretEnvKeys: string[];
}

interface Step {
  readonly name: string;
  readonly index: number | null;
}

const NO_ENV: ReadonlyMap<string, EnvValue> = new Map();
const NAME_LENGTH_MIN = 2;
/** Kinds whose names have a least length. */
const HAVE_LONG_NAMES: ReadonlySet<string> = new Set(["Bucket", "Dashboard", "Label"]);
/** In characters. A script is read, checked and formatted in one step: 1 MB takes 1 to 2 seconds. */
export const SCRIPT_LENGTH_MAX = 1 << 18;

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
    return textIn(this.members[name]) ?? "";
  }

  /** A text that may be a reference. "": absent, or no text. */
  name(member: string): string {
    return this.referred(member, this.members[member]);
  }

  /** The same, but the reference is not told: it is that of another resource. */
  label(member: string): { readonly text: string; readonly isReference: boolean } {
    const value = this.members[member];
    const reference = referenceIn(value, this.reading.env);
    return { text: reference === null ? (textIn(value) ?? "").trim() : namedBy(reference), isReference: reference !== null };
  }

  /** The items, which may be references, of what may be a list: these stand for their defaults alone, as recorded. */
  names(member: string): string[] {
    return this.items(member).map((item, i) => this.referred(`${member}[${i}]`, item, NO_ENV));
  }

  /** "": absent or too long. */
  script(name: string): string {
    const text = this.text(name);
    if (text.length <= SCRIPT_LENGTH_MAX) return text;
    this.issue(name, `has ${text.length} characters, and may have ${SCRIPT_LENGTH_MAX}`);
    return "";
  }

  /** A value of an enumeration. "": absent, or no text. */
  word(name: string): string {
    return this.text(name).trim().toLowerCase();
  }

  /** Default: the name in the metadata. */
  displayName(metaName: string): string {
    return this.name("name") || metaName;
  }

  /** Display names of some kinds have a least length, in bytes. */
  requireLength(name: string): void {
    const isShort = Buffer.byteLength(name) < NAME_LENGTH_MIN && HAVE_LONG_NAMES.has(this.reading.kind);
    if (isShort) this.issue("name", `must be a string of at least ${NAME_LENGTH_MIN} chars in length`);
  }

  secret(name: string): SecretValue {
    const value = this.members[name];
    if (isMembers(value) && isMembers(value["secretRef"])) {
      const key = secretKeyIn(value);
      if (key === null) return null;
      this.reading.secretKeys.push(key);
      return { key };
    }
    const reference = referenceIn(value, this.reading.env);
    // as recorded, the reference of a secret is told only when it has no value
    if (reference !== null) this.reading.secretEnvKeys.push(reference.envRefKey);
    const text = reference === null ? (textIn(value) ?? "") : namedBy(reference);
    return text === "" ? null : { value: text };
  }

  /** 0: no number. References are no numbers. */
  number(name: string): number {
    const value = this.members[name];
    return typeof value === "number" ? value : 0;
  }

  /** Without its fraction. Null: no number. */
  whole(name: string): number | null {
    const value = this.members[name];
    return typeof value === "number" ? Math.trunc(value) : null;
  }

  /** False: absent, or another value. */
  boolean(name: string): boolean {
    return this.members[name] === true;
  }

  /** The items that are objects of what may be a list. */
  list(name: string): SpecReader[] {
    const items = this.items(name).filter(isMembers);
    return items.map((item, index) => new SpecReader(this.reading, item, [...this.path, { name, index }]));
  }

  /** The items that are texts of what may be a list. */
  texts(name: string): string[] {
    return this.items(name).flatMap((item) => textIn(item) ?? []);
  }

  /** The items that are numbers of what may be a list. */
  numbers(name: string): number[] {
    return this.items(name).filter((item) => typeof item === "number");
  }

  /** The members of what may be an object. */
  object(name: string): SpecReader {
    const value = this.members[name];
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

  /** @param name the path below @param index the item, of the last name of the path */
  issue(name: string | readonly string[], reason: string, index: number | null = null): void {
    const below = [name].flat();
    const path = [...this.path, ...below.map((each, i) => ({ name: each, index: i === below.length - 1 ? index : null }))];
    const { kind, issues } = this.reading;
    issues.push({ kind, fields: path.map((step) => step.name), idxs: path.map((step) => step.index), reason });
  }

  private items(name: string): readonly unknown[] {
    const value = this.members[name];
    return Array.isArray(value) ? value : [];
  }

  private referred(member: string, value: unknown, env = this.reading.env): string {
    // a secret is no name, but it is needed
    const secretKey = secretKeyIn(value);
    if (secretKey !== null) this.reading.secretKeys.push(secretKey);
    const reference = referenceIn(value, env);
    if (reference === null) return textIn(value) ?? "";
    const resourceField = pathText([...this.path.slice(1), { name: member, index: null }]);
    this.reading.references.push({ resourceField, valueType: "", ...reference });
    return namedBy(reference);
  }
}

/** Null: no secret, or one without a key. */
function secretKeyIn(value: unknown): string | null {
  return isMembers(value) && isMembers(value["secretRef"]) ? nameIn(value["secretRef"]["key"]) : null;
}

/** Null: no reference, or one without a key. */
export function referenceIn(
  value: unknown,
  env: ReadonlyMap<string, EnvValue>,
): Pick<EnvReference, "envRefKey" | "value" | "defaultValue"> | null {
  if (!isMembers(value) || !isMembers(value["envRef"])) return null;
  const { key, default: given } = value["envRef"];
  const envRefKey = nameIn(key);
  if (envRefKey === null) return null;
  return { envRefKey, value: env.get(envRefKey) ?? null, defaultValue: isEnvValue(given) ? given : null };
}

/** What a reference stands for: the value of the request, its default, or a name that is made of its key. */
export function namedBy({ envRefKey, value, defaultValue }: Pick<EnvReference, "envRefKey" | "value" | "defaultValue">): string {
  return nameIn(value) ?? nameIn(defaultValue) ?? `env-${envRefKey}`;
}

/** Null for what is no name: an empty text, a boolean, no text at all. */
export function nameIn(value: unknown): string | null {
  return (typeof value === "string" && value !== "") || typeof value === "number" ? String(value) : null;
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
