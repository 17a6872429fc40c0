// Operations on tokens. All but the creation of the first token require an admin, whom only the authorizer can prove.
import type { NewToken, NewTokenRequest } from "../model/access.ts";
import type { AdminCaller } from "./authorizer.ts";

/** Each call resolves once it is durable. @throws TsdbError already_exists, not_found, bad_request, method_not_allowed, unavailable */
export interface TokenService {
  /** Creates the first token, which needs no authorization. */
  createOperatorToken(): Promise<NewToken>;
  /** Replaces the text of the first token; the previous text becomes invalid. */
  regenerateOperatorToken(admin: AdminCaller): Promise<NewToken>;
  /** Replaces the text of the first token, or recreates it as an admin token: for an administrator who has lost it. */
  recoverOperatorToken(admin: AdminCaller): Promise<NewToken>;
  createToken(admin: AdminCaller, request: NewTokenRequest): Promise<NewToken>;
  deleteToken(admin: AdminCaller, name: string): Promise<void>;
}
