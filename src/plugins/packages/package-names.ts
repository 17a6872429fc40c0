// Validates requirement specifiers: names with versions and extras, and URLs of wheels. Options of the package manager are rejected.
import { TsdbError } from "../../model/errors.ts";

const PACKAGES_MAX = 100;
const SPEC_MAX = 500;
const NAME = "[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?";
const EXTRAS = `(?:\\s*\\[\\s*${NAME}(?:\\s*,\\s*${NAME})*\\s*\\])?`;
const VERSION = "(?:===|==|~=|!=|<=|>=|<|>)\\s*[A-Za-z0-9.*+!_-]+";
const VERSIONS = `(?:\\s*(?:${VERSION}(?:\\s*,\\s*${VERSION})*|\\(\\s*${VERSION}(?:\\s*,\\s*${VERSION})*\\s*\\)))?`;
const ADDRESS = "https?://[^\\s]+";
/** PEP 508 without environment markers. */
const REQUIREMENT = new RegExp(`^(?:${NAME}${EXTRAS}${VERSIONS}|${NAME}${EXTRAS}\\s*@\\s*${ADDRESS}|${ADDRESS})$`);

/** @throws TsdbError bad_request naming the first invalid specifier */
export function checkPackages(packages: readonly string[]): readonly string[] {
  if (packages.length === 0) throw new TsdbError("bad_request", "no packages to install");
  if (packages.length > PACKAGES_MAX)
    throw new TsdbError("bad_request", `at most ${PACKAGES_MAX} packages at a time, got ${packages.length}`);
  const bad = packages.find((one) => one.length > SPEC_MAX || !REQUIREMENT.test(one));
  if (bad === undefined) return packages;
  const shown = JSON.stringify(bad.slice(0, 100));
  throw new TsdbError("bad_request", `not a package: ${shown}; write a name, as scipy, scipy==1.9.0 or requests[socks]>=2, or an address`);
}
