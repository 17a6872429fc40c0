// Converts the schemas that routes parse with to their OpenAPI form, so that parsing and documentation cannot differ.
import type { TObject, TSchema } from "@sinclair/typebox";
import type { DocumentDecoration } from "elysia";
import type { AccessRule } from "../../model/access.ts";
import type { RouteAccess } from "../shared/access.ts";

/** Member of a route's description with its access rule. */
const ACCESS = "x-access";

/** A route's access rule, and its part of the OpenAPI document. */
export interface DescribedRoute<R extends AccessRule = AccessRule> {
  readonly access: RouteAccess<R>;
  readonly detail: DocumentDecoration;
}

/** A route without documentation. */
export function hidden<R extends AccessRule>(rule: R, { takesPassword = false } = {}): DescribedRoute<R> {
  return { access: { rule, takesPassword }, detail: { hide: true, [ACCESS]: rule } as DocumentDecoration };
}

export interface OperationSource<R extends AccessRule = AccessRule> {
  readonly tag: "Write" | "Query" | "Databases" | "Export" | "Import" | "Backup" | "Processing engine" | "Tokens" | "Users" | "Server";
  readonly summary: string;
  readonly access: R;
  /** True if `p` in the query string is a token. */
  readonly takesPassword?: boolean;
  readonly description?: string;
  readonly query?: TObject;
  readonly headers?: TObject;
  readonly path?: TObject;
  /** Body by media type. */
  readonly body?: Readonly<Record<string, TSchema>>;
  /** Meaning of each status, with the body's schema by media type where there is a body. */
  readonly answers: Readonly<Record<number, Answer>>;
}

export interface Answer {
  readonly description: string;
  readonly content?: Readonly<Record<string, TSchema>>;
}

/** The route of an operation: its access rule, schemas, and its entry in the API description. */
export function operation<const R extends AccessRule>(source: OperationSource<R>): DescribedRoute<R> {
  const detail = {
    tags: [source.tag],
    summary: source.summary,
    [ACCESS]: source.access,
    ...(source.description === undefined ? {} : { description: source.description }),
    parameters: [...parameters("path", source.path), ...parameters("query", source.query), ...parameters("header", source.headers)],
    ...(source.body === undefined ? {} : { requestBody: { required: true, content: content(source.body) } }),
    responses: Object.fromEntries(
      Object.entries({ ...commonAnswers(source), ...source.answers }).map(([status, answer]) => [
        status,
        { description: answer.description, ...(answer.content === undefined ? {} : { content: content(answer.content) }) },
      ]),
    ),
  };
  const access = { rule: source.access, takesPassword: source.takesPassword ?? false };
  return { access, detail: detail as unknown as DocumentDecoration };
}

/** Answers common to all routes of this kind, unless the route describes them itself. */
function commonAnswers({ access, body, tag }: OperationSource): Record<number, Answer> {
  const answers: Record<number, Answer> = {};
  if (access !== "open") {
    answers[400] = { description: "The Authorization header cannot be understood." };
    answers[401] = { description: "No token, or an unknown, deleted or expired one." };
    if (access !== "any token") answers[403] = { description: "The token may not do it." };
  }
  if (body !== undefined) {
    answers[400] = { description: "The body or the Authorization header cannot be understood." };
    answers[413] = { description: "The body is larger than --max-http-request-size, as sent or decompressed." };
    // query routes ignore the content type: clients send JSON under any name
    if (tag !== "Query" && "application/json" in body) answers[415] = { description: "The body's type is not application/json." };
  }
  return answers;
}

function parameters(place: "query" | "header" | "path", schema: TObject | undefined): object[] {
  if (schema === undefined) return [];
  const required = new Set<string>(schema.required ?? []);
  return Object.entries(schema.properties).map(([name, property]) => {
    const { description, ...type } = plain(property);
    return { name, in: place, required: required.has(name), ...(description === undefined ? {} : { description }), schema: type };
  });
}

function content(byType: Readonly<Record<string, TSchema>>): Record<string, { schema: unknown }> {
  return Object.fromEntries(Object.entries(byType).map(([type, schema]) => [type, { schema: plain(schema) }]));
}

/** The schema as JSON: TypeBox's internal marks are symbols, which JSON omits. */
function plain(schema: TSchema): Record<string, unknown> {
  return JSON.parse(JSON.stringify(schema)) as Record<string, unknown>;
}
