// Package `internal/boolean`: `true` and `false` are names, not keywords.
import type { LibraryPackage } from "./native-call.ts";

export const BOOLEAN: LibraryPackage = {
  path: "internal/boolean",
  name: "boolean",
  source: "builtin true : bool\nbuiltin false : bool",
  natives: { true: { value: true }, false: { value: false } },
};
