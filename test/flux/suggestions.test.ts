// Functions for editors, with their parameters, as `/api/v2/query/suggestions` of release 2.8.0 lists them.
import { expect, test } from "bun:test";
import { allSuggestions, suggestionFor } from "../../src/query/flux/suggestions.ts";
import recorded from "../vectors/flux/suggestions.json";

const RECORDED: Readonly<Record<string, Readonly<Record<string, string>>>> = recorded;

test("all functions are suggested, each with its parameters", () => {
  expect(Object.fromEntries(allSuggestions().funcs.map(({ name, params }) => [name, params]))).toEqual(RECORDED);
});

test("each by its name, and none that scripts do not have", () => {
  for (const [name, params] of Object.entries(RECORDED)) expect(suggestionFor(name)).toEqual({ name, params });
  for (const name of ["_nope", "inf", "nix", "__proto__", ""]) expect(suggestionFor(name)).toBeNull();
});
