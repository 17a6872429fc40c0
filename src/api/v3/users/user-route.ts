// What the routes of users and sign-ins share: bodies, answers and the address of a client.
import { t } from "elysia";
import type { SignedIn } from "../../../accounts/sign-ins.ts";
import type { RoleDef, UserDef } from "../../../model/access.ts";
import { TsdbError } from "../../../model/errors.ts";
import type { Answer } from "../../docs/operation.ts";
import { UnacceptableType } from "../../request/json-body.ts";
import type { AccountServices, AppServices } from "../../services.ts";
import { sizedResponse } from "../../shared/body-size.ts";
import { failureOf } from "../../shared/errors.ts";
import { errorJson, text } from "../../shared/respond.ts";
import type { AnyCall } from "../../shared/route.ts";
import { requireReady } from "../../shared/write.ts";
import { ErrorBody } from "../../shared/write-schemas.ts";

/** Of bodies: names and passwords are short. */
export const BODY_BYTES_MAX = 1024 * 1024;

const seconds = (description: string) => t.Integer({ description: `${description} Seconds since 1970.` });

export const User = t.Object({
  userId: t.Integer(),
  username: t.Optional(t.String()),
  displayName: t.Optional(t.String()),
  requiresPasswordReset: t.Optional(t.Boolean({ description: "Of users with a password: a new one is needed to sign in." })),
  createdAt: seconds("When it was made."),
  updatedAt: seconds("When it was last changed."),
  deletedAt: t.Optional(seconds("When it was deleted.")),
  operatorToken: t.Optional(t.String({ description: "The first admin token, if it was made with the first user. Shown this once." })),
  oauthId: t.Optional(t.String({ description: "Subject of the identity provider." })),
  temporaryPassword: t.Optional(t.String({ description: "For the first sign-in, if none was given. Shown this once." })),
});

export const Role = t.Object({
  id: t.Integer(),
  name: t.String(),
  isRequiredRole: t.Boolean({ description: "At least one user has it." }),
  description: t.Optional(t.String()),
  createdAt: seconds("When it was made."),
  updatedAt: seconds("When it was last changed."),
});

export const Tokens = t.Object({
  token: t.String({ description: "For requests: `Authorization: Bearer TOKEN`." }),
  tokenType: t.Literal("Bearer"),
  expiresAt: seconds("When the token ends."),
  refreshToken: t.String({ description: "Gets the next tokens, once." }),
  refreshExpiresAt: seconds("When the refresh token ends."),
  user: User,
});

/** An error with its meaning. */
export const failed = (description: string): Answer => ({ description, content: { "application/json": ErrorBody } });

/** A success with a body. */
export const answered = (description: string, schema: NonNullable<Answer["content"]>[string]): Answer => ({
  description,
  content: { "application/json": schema },
});

export const UNAVAILABLE = { 503: failed("The server is replaying its log or stopping, or has no room on its disk; try again.") };

/** Runs a handler's work, and answers with its result as JSON, which no cache keeps, or with its error. */
export async function answer(
  services: AppServices,
  call: AnyCall,
  run: (accounts: AccountServices) => Promise<object> | object,
): Promise<Response> {
  try {
    requireReady(services.status());
    const value = await run(services.accounts!);
    if (value instanceof Response) return value;
    return sizedResponse(JSON.stringify(value), { headers: { "content-type": "application/json", "cache-control": "no-store" } });
  } catch (error) {
    if (error instanceof UnacceptableType) return text(415, error.message);
    const failure = failureOf(error);
    if (failure.isOurs) services.report(error, `${call.request.method} ${call.target.path}`);
    return errorJson(failure);
  }
}

/** Of the client's connection; headers that name another one are not believed. */
export function addressOf({ server, request }: AnyCall): string {
  return server?.requestIP(request)?.address ?? "";
}

/** @throws TsdbError bad_request */
export function idIn({ parameters }: AnyCall): number {
  const id = parameters["id"] ?? "";
  if (!/^\d{1,15}$/.test(id)) throw new TsdbError("bad_request", `want the number of an id, got "${id.slice(0, 40)}"`);
  return Number(id);
}

/** A user as clients see it. */
export function shownUser(user: UserDef, once: { operatorToken?: string | null; temporaryPassword?: string | null } = {}) {
  const { id, username, displayName, passwordHash, requiresReset, oauthId, createdMs, updatedMs, deletedMs } = user;
  return {
    userId: id,
    ...(username === null ? {} : { username }),
    ...(displayName === null ? {} : { displayName }),
    ...(passwordHash === null ? {} : { requiresPasswordReset: requiresReset }),
    createdAt: secondsOf(createdMs),
    updatedAt: secondsOf(updatedMs),
    ...(deletedMs === null ? {} : { deletedAt: secondsOf(deletedMs) }),
    ...(once.operatorToken == null ? {} : { operatorToken: once.operatorToken }),
    ...(oauthId === null ? {} : { oauthId }),
    ...(once.temporaryPassword == null ? {} : { temporaryPassword: once.temporaryPassword }),
  };
}

/** A role as clients see it. */
export function shownRole({ id, name, isRequired, description, createdMs, updatedMs }: RoleDef) {
  return {
    ...{ id, name, isRequiredRole: isRequired },
    ...(description === null ? {} : { description }),
    ...{ createdAt: secondsOf(createdMs), updatedAt: secondsOf(updatedMs) },
  };
}

/** The tokens of a sign-in as clients see them. */
export function shownTokens({ user, token, expiryMs, refreshToken, refreshExpiryMs }: SignedIn) {
  const times = { expiresAt: secondsOf(expiryMs), refreshExpiresAt: secondsOf(refreshExpiryMs) };
  return { token, tokenType: "Bearer", refreshToken, ...times, user: shownUser(user) };
}

function secondsOf(ms: number): number {
  return Math.floor(ms / 1000);
}
