// Signing in with a name and a password, and out: the cookie of a session stands for a token on /api/v2.
import { isStrong } from "../../metadata/access/passwords.ts";
import { basicIn, SESSION_COOKIE, sessionKeyIn, UNAUTHORIZED } from "./app/admit.ts";
import { noContent } from "./app/answers.ts";
import { codeAnswer } from "./app/errors.ts";
import { V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";

export const sessionRoutes = (services: V2Services): V2Routes => {
  const { strongPasswords, isSecure } = services.options;
  return new V2Routes(services)
    .open("POST", "/api/v2/signin", async ({ request }) => {
      const { users, passwords, sessions } = services.line();
      const credentials = basicIn(request);
      if (credentials === null) return codeAnswer("unauthorized", UNAUTHORIZED);
      const user = users.findByName(credentials.user);
      const hash = user === null ? null : users.passwordHash(user.id);
      if (!(await passwords.verify(credentials.password, hash)) || user === null) return codeAnswer("unauthorized", UNAUTHORIZED);
      // it takes time, and a change of the password ends the sessions that there are by then
      if (users.passwordHash(user.id) !== hash) return codeAnswer("unauthorized", UNAUTHORIZED);
      if (strongPasswords && !isStrong(credentials.password)) {
        return codeAnswer("forbidden", "password change required: the password does not satisfy the rules for strong passwords");
      }
      const { key, endMs } = sessions.start(user.id);
      const attributes = [
        `${SESSION_COOKIE}=${key}`,
        "Path=/api/",
        `Expires=${new Date(endMs).toUTCString()}`,
        "HttpOnly",
        ...(isSecure ? ["Secure"] : []),
        "SameSite=Strict",
      ];
      return new Response(null, { status: 204, headers: { "set-cookie": attributes.join("; ") } });
    })
    .open("POST", "/api/v2/signout", ({ request }) => {
      const key = sessionKeyIn(request);
      return key !== null && services.line().sessions.end(key) ? noContent() : codeAnswer("unauthorized", UNAUTHORIZED);
    });
};
