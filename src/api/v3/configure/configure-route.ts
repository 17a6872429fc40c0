// The common part of the routes under /api/v3/configure: they change the catalog, answer without a body, and report most errors as plain
// text.
import { TsdbError } from "../../../model/errors.ts";
import type { Answer } from "../../docs/operation.ts";
import { UnacceptableType } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { sizedResponse } from "../../shared/body-size.ts";
import { failureOf } from "../../shared/errors.ts";
import { errorJson, errorText, text } from "../../shared/respond.ts";
import type { AnyCall } from "../../shared/route.ts";
import { requireReady } from "../../shared/write.ts";

/** Runs `change` and answers with `status` and no body, or with its error. */
export async function configure(services: AppServices, call: AnyCall, status: 200 | 204, change: () => Promise<void>): Promise<Response> {
  try {
    requireReady(services.status());
    await change();
    return sizedResponse(null, { status });
  } catch (error) {
    return configureFailed(services, call, error);
  }
}

/** Limits and names of databases have the JSON form, as on the write endpoints; everything else is text, what plugins lack too. */
export function configureFailed(services: AppServices, { request, target }: AnyCall, error: unknown): Response {
  if (error instanceof UnacceptableType) return text(415, error.message);
  const failure = failureOf(error);
  if (failure.isOurs) services.report(error, `${request.method} ${target.path}`);
  const isText = error instanceof TsdbError && (error.kind === "plugin" || error.details["asText"] === true);
  const isName = error instanceof TsdbError && error.kind === "bad_request" && "name" in error.details;
  const isJson = !isText && (isName || failure.status === 403 || failure.status === 422 || failure.status >= 500);
  return isJson ? errorJson(failure) : errorText(failure);
}

/** @param when meanings of statuses besides the common ones */
export function configureAnswers(when: Readonly<Record<number, string>>): Record<number, Answer> {
  const answers: Record<number, Answer> = {};
  for (const [status, description] of Object.entries(when)) answers[Number(status)] = { description };
  answers[503] = { description: "The server is replaying its log or stopping; try again." };
  return answers;
}
