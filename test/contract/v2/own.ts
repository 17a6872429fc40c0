// The operations of this server's own document of the v2 line, in the form of the contract.
import type { OpenApi } from "../../../src/api/docs/openapi.ts";
import type { OperationForm } from "../extract.ts";
import { type OwnOperation, operationOf } from "../own.ts";

/** By `METHOD path`. */
export function operationsOf(document: OpenApi): Readonly<Record<string, OperationForm>> {
  return Object.fromEntries(
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => {
        const { isEnterprise: _, ...form } = operationOf(inlined(document, operation) as OwnOperation);
        return [`${method.toUpperCase()} ${path}`, form] as const;
      }),
    ),
  );
}

/** Without references: components refer to each other, and none to itself. */
function inlined(document: OpenApi, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((each) => inlined(document, each));
  if (typeof value !== "object" || value === null) return value;
  const { $ref: reference } = value as { readonly $ref?: string };
  const found = reference === undefined ? value : document.components!.schemas[reference.split("/").at(-1)!]!;
  return Object.fromEntries(Object.entries(found).map(([name, member]) => [name, inlined(document, member)]));
}
