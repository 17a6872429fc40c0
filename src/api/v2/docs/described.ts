// How an operation of port 8086 is described: what its route reads, and what it answers.
import { type TObject, type TProperties, type TSchema, Type as t } from "@sinclair/typebox";

export type Tag =
  | "Setup and sessions"
  | "Write, query, delete"
  | "Buckets"
  | "Organizations"
  | "Users"
  | "Authorizations"
  | "Labels"
  | "Scrapers"
  | "Replication"
  | "Tasks"
  | "Dashboards"
  | "Variables"
  | "Telegraf configurations"
  | "Sources"
  | "Notebooks and annotations"
  | "Checks and notifications"
  | "Templates"
  | "v1 clients"
  | "Backup and restore"
  | "System";

/** By media type. An empty list: no body. */
export type Bodies = Readonly<Record<string, TSchema>>;

export interface AnswerSource {
  readonly description: string;
  readonly content?: Bodies;
}

export interface V2Operation {
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  /** `basic`: name and password. Default: a token or the cookie of a session. */
  readonly credentials?: "none" | "basic" | "v1";
  readonly query?: TProperties;
  readonly headers?: TProperties;
  readonly body?: Bodies;
  /** Success, and what the common answers lack. */
  readonly answers: Readonly<Record<number, AnswerSource>>;
}

/** By `METHOD path`, as the router has it. */
export type V2Operations = Readonly<Record<string, V2Operation>>;

const JSON_TYPE = "application/json";
export const BYTES_TYPE = "application/octet-stream";

/** A body of JSON. */
export function jsonOf(schema: TSchema): Bodies {
  return { [JSON_TYPE]: schema };
}

/** 200 with JSON. */
export function ok(description: string, schema: TSchema): Readonly<Record<number, AnswerSource>> {
  return { 200: { description, content: jsonOf(schema) } };
}

/** 201 with JSON. */
export function made(description: string, schema: TSchema): Readonly<Record<number, AnswerSource>> {
  return { 201: { description, content: jsonOf(schema) } };
}

/** 204. */
export function done(description: string): Readonly<Record<number, AnswerSource>> {
  return { 204: { description } };
}

/** A body's schema with the members that a request must have: routes check them by themselves, and answer in words of their own. */
export function requiring<P extends TProperties>(schema: TObject<P>, ...names: (keyof P & string)[]): TObject {
  return { ...schema, required: names } as unknown as TObject;
}

export const text = (description: string) => t.Optional(t.String({ description }));
export const flag = (description: string) => t.Optional(t.Boolean({ description }));
export const id = (description: string) => t.Optional(t.String({ pattern: "^[0-9a-f]{16}$", description }));
