// What is done to tokens. All but the first token needs an admin, whom only the authorizer can prove.
import type { NewToken, NewTokenRequest } from "../model/access.ts";
import type { AdminCaller } from "./authorizer.ts";

/** Each resolves when it is durable. @throws TsdbError already_exists, not_found, bad_request, method_not_allowed, unavailable */
export interface TokenService {
  /** The first one, which needs no token. */
  createOperatorToken(): Promise<NewToken>;
  /** Replaces the text of the first token: the one before is worth nothing from then on. */
  regenerateOperatorToken(admin: AdminCaller): Promise<NewToken>;
  /** Gives the first token another text, or makes it again as an admin's: for an administrator without a token. */
  recoverOperatorToken(admin: AdminCaller): Promise<NewToken>;
  createToken(admin: AdminCaller, request: NewTokenRequest): Promise<NewToken>;
  deleteToken(admin: AdminCaller, name: string): Promise<void>;
}
