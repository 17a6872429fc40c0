// Plans how the tokens of files on the command line change the existing ones: which are created, which is replaced, and what is refused.
// Pure: everything is decided before anything is done.
import { OPERATOR_TOKEN, type TokenDef } from "../model/access.ts";
import { near, TsdbError } from "../model/errors.ts";
import type { FileToken, PermissionTokens } from "./token-file.ts";
import { hashToken } from "./token-text.ts";

/** The content of a file, and the prefix of its error messages: the flag and the path. */
export interface GivenFile<T> {
  readonly source: string;
  readonly content: T;
}

export interface KnownToken {
  readonly name: string;
  readonly hash: string;
  readonly expiryMs: number | null;
  readonly permissions: TokenDef["permissions"];
}

export interface GivenPlan {
  /** Id of a token that is removed first: an operator token without operator permissions. */
  readonly replaced: number | null;
  readonly added: readonly KnownToken[];
  /** Sentences for the server's log. */
  readonly warnings: readonly string[];
}

/** A file's admin token applies only to a server without one; the others are created unless their name exists. @throws TsdbError config
 *  naming flag, file and entry */
export function planGiven(
  existing: readonly TokenDef[],
  admin: GivenFile<FileToken> | null,
  permissions: GivenFile<PermissionTokens> | null,
): GivenPlan {
  const added: KnownToken[] = [];
  const warnings: string[] = [];
  const lockedOut = lockedOutOperator(existing);
  const isOperatorGiven = admin !== null && !existing.some((token) => token.permissions === null);
  const replaced = isOperatorGiven && admin.content.name === OPERATOR_TOKEN ? lockedOut : undefined;
  const kept = existing.filter((token) => token !== replaced);
  if (isOperatorGiven) {
    const token = knownToken(admin.content);
    if (kept.some(({ name }) => name === token.name)) {
      throw bad(admin, admin.content, `a token called "${near(token.name)}" exists and is no admin's; choose another name`);
    }
    refuseKnownText(kept, token, admin, admin.content);
    added.push(token);
    if (replaced !== undefined) warnings.push(`the token ${OPERATOR_TOKEN}, which was no admin's, was replaced by that of ${admin.source}`);
  }
  for (const each of permissions?.content.tokens ?? []) {
    const token = knownToken(each);
    if (added.some(({ name }) => name === token.name)) {
      throw bad(permissions!, each, `"${near(token.name)}" is the name of the token of ${admin?.source}`);
    }
    const before = kept.find(({ name }) => name === token.name);
    if (before === undefined) {
      refuseKnownText([...kept, ...added], token, permissions!, each);
      added.push(token);
    } else if (!isSame(before, token)) {
      warnings.push(
        `${placeOf(permissions!, each)}: the token "${near(token.name)}" exists with another text, expiry or permissions, and stays so`,
      );
    }
  }
  if (lockedOut !== undefined && replaced === undefined && !added.some((token) => token.permissions === null)) {
    warnings.push(`the token ${OPERATOR_TOKEN} is no admin's, and nobody is admin; --admin-token-recovery-http-bind makes it one again`);
  }
  return { replaced: replaced?.id ?? null, added, warnings };
}

/** Earlier versions let a permissions file use the operator's name. Undefined if this has not happened. */
function lockedOutOperator(existing: readonly TokenDef[]): TokenDef | undefined {
  if (existing.some(({ permissions }) => permissions === null)) return undefined;
  return existing.find(({ name }) => name === OPERATOR_TOKEN);
}

function knownToken({ text, name, expiryMs, permissions }: FileToken): KnownToken {
  return { name, hash: hashToken(text), expiryMs, permissions };
}

function refuseKnownText(others: readonly KnownToken[], { name, hash }: KnownToken, file: GivenFile<unknown>, token: FileToken): void {
  const same = others.find((other) => other.hash === hash);
  if (same === undefined) return;
  throw bad(file, token, `the text given for token "${near(name)}" is that of token "${near(same.name)}", which exists`);
}

function isSame(before: TokenDef, token: KnownToken): boolean {
  const { hash, expiryMs, permissions } = before;
  return token.hash === hash && token.expiryMs === expiryMs && JSON.stringify(token.permissions) === JSON.stringify(permissions);
}

function placeOf({ source }: GivenFile<unknown>, { entry }: FileToken): string {
  return entry === "" ? source : `${source}: ${entry}`;
}

function bad(file: GivenFile<unknown>, token: FileToken, complaint: string): TsdbError {
  return new TsdbError("config", `${placeOf(file, token)}: ${complaint}`, {});
}
