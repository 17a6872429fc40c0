// A second listener for a lost first admin token: it answers one request, from any client of its address, and stops.
import type { Authorizer } from "../auth/authorizer.ts";
import type { TokenService } from "../auth/token-service.ts";
import { TsdbError } from "../model/errors.ts";
import { INVALID_TARGET, RequestTargets } from "./request/request-target.ts";
import { failureOf } from "./shared/errors.ts";
import { errorText, text } from "./shared/respond.ts";
import { tokenCreated } from "./v3/configure/token.ts";

const PATH = "/api/v3/configure/token/admin/regenerate";

export interface RecoveryListener {
  readonly url: string;
  stop(): void;
}

/** @throws TsdbError config if the address cannot be bound */
export function startRecovery(
  address: { readonly hostname: string; readonly port: number },
  authorizer: Authorizer,
  tokens: () => TokenService,
  onUsed: () => void,
): RecoveryListener {
  let isUsed = false;
  const targets = new RequestTargets();
  const answer = async (request: Request): Promise<Response> => {
    const target = targets.read(request);
    if (target === null) return errorText(failureOf(INVALID_TARGET));
    if (request.method !== "POST" || target.path !== PATH || isUsed) return text(404, "Not found");
    isUsed = true;
    try {
      const response = tokenCreated(await tokens().recoverOperatorToken(authorizer.recoveryCaller()));
      // after this answer was sent
      setImmediate(() => void server.stop(false));
      onUsed();
      return response;
    } catch (error) {
      isUsed = false;
      return errorText(failureOf(error));
    }
  };
  let server: ReturnType<typeof Bun.serve>;
  try {
    server = Bun.serve({ hostname: address.hostname, port: address.port, development: false, fetch: answer });
  } catch (cause) {
    const message = `--admin-token-recovery-http-bind: cannot listen on ${address.hostname}:${address.port}: ${(cause as Error).message}`;
    throw new TsdbError("config", message, {}, { cause });
  }
  return { url: server.url.origin, stop: () => void server.stop(true) };
}
