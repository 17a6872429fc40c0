// Operations that this server has beside those of the OpenAPI files, read from its own document: they keep to the same contract.
import { fakes } from "../api/fakes.ts";
import type { Contract, Operation, Parameter, Schema } from "./extract.ts";

export interface OwnOperation {
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Schema }>> }>>;
}

/** Every operation that the server's document has and `contract` has not. */
export async function ownOperations(contract: Contract): Promise<Contract> {
  const response = await fakes().send("GET", "/openapi.json");
  const { paths } = (await response.json()) as { paths: Record<string, Record<string, OwnOperation>> };
  const found = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operationOf(operation)] as const),
  );
  return Object.fromEntries(found.filter(([key]) => !Object.hasOwn(contract, key)));
}

/** An operation of the server's own document, in the form of the contract. */
export function operationOf({ parameters, requestBody, responses }: OwnOperation): Operation {
  const content = (by: Readonly<Record<string, { readonly schema: Schema }>> = {}) =>
    Object.fromEntries(Object.entries(by).map(([type, { schema }]) => [type, schema]));
  return {
    isEnterprise: false,
    parameters,
    body: content(requestBody?.content),
    answers: Object.fromEntries(Object.entries(responses).map(([status, answer]) => [status, content(answer.content)])),
  };
}
