// /api/v3/authorize: users sign in, get the next tokens, set passwords and sign out. Open: the credentials are in the bodies.
import { t } from "elysia";
import { operation } from "../../docs/operation.ts";
import { BodyReader } from "../../request/body.ts";
import { readJsonBody } from "../../request/json-body.ts";
import type { AppServices } from "../../services.ts";
import { Routes } from "../../shared/route.ts";
import { addressOf, answer, answered, BODY_BYTES_MAX, failed, shownTokens, shownUser, Tokens, UNAVAILABLE, User } from "./user-route.ts";

const PATH = "/api/v3/authorize";

const password = t.String({ description: "8 to 72 bytes of UTF-8." });
const SignInBody = t.Object({ username: t.String(), password: t.String() });
const RefreshBody = t.Object({ refreshToken: t.String() });
const ResetBody = t.Object({ username: t.String(), password: t.String({ description: "The present one." }), newPassword: password });
const OAuthBody = t.Object({
  code: t.String({ description: "Of the provider." }),
  codeVerifier: t.String({ description: "Of PKCE, with S256." }),
  redirectUri: t.String({ description: "As it was sent to the provider." }),
  nonce: t.Optional(t.String({ description: "As it was sent to the provider." })),
  iss: t.Optional(t.String({ description: "As it came with the code." })),
});
const FirstBody = t.Object({ username: t.String(), password, displayName: t.Optional(t.String()) });
const ProviderConfig = t.Object({
  issuer: t.String(),
  clientId: t.String(),
  authorizationEndpoint: t.String(),
  scopes: t.String(),
  codeChallengeMethod: t.Literal("S256"),
});
const Nothing = t.Object({});

const SIGNED_IN = {
  200: answered("Tokens.", Tokens),
  401: failed("The name or the password, or the token, is wrong; a refresh token that was used before has ended its sign-in."),
  403: failed("A new password is needed first, or the server is read-only."),
  429: failed("Too many failed attempts for the name or from the address; Retry-After says how long to wait."),
  ...UNAVAILABLE,
};

const about = (summary: string, body: ReturnType<typeof t.Object>, description?: string) =>
  operation({
    ...{ tag: "Users", access: "open", summary, body: { "application/json": body }, answers: SIGNED_IN },
    ...(description === undefined ? {} : { description }),
  });

/** What the documentation says of each route. */
const OPERATIONS = {
  signOut: operation({
    ...{ tag: "Users", access: "open", summary: "Sign out", body: { "application/json": RefreshBody } },
    description: "Ends the sign-in of the refresh token, and all of its tokens. A token that is invalid ends nothing.",
    answers: { 200: answered("The sign-in has ended.", Nothing), 403: failed("The server is read-only."), ...UNAVAILABLE },
  }),
  providerConfig: operation({
    ...{ tag: "Users", access: "open", summary: "What a client needs to sign in by the identity provider" },
    answers: {
      200: answered("Where the user signs in, and as which client.", ProviderConfig),
      404: failed("The server was started without an identity provider."),
      503: failed("The provider cannot be reached."),
    },
  }),
  createFirst: operation({
    ...{ tag: "Users", access: "open", summary: "Create the first user", body: { "application/json": FirstBody } },
    description:
      "An admin. Works once: without a token while there is no admin token, which is made with the user; otherwise with an admin token.",
    answers: {
      200: answered("The user, with the first admin token if it was made.", User),
      401: failed("There is an admin token: it is needed."),
      403: failed("The token is no admin's, or the server is read-only."),
      409: failed("There are users already."),
      429: failed("The server is hashing as many passwords as it may."),
      ...UNAVAILABLE,
    },
  }),
};

/** Only with the extended edition, and with users. */
export const authorizeRoutes = (services: AppServices) => {
  const routes = new Routes(services.access);
  if (services.edition !== "enterprise" || services.accounts === null) return routes;
  const reader = new BodyReader(Math.min(services.maxRequestBytes, BODY_BYTES_MAX), services.now);
  return routes
    .post(PATH, about("Sign in", SignInBody), (call) =>
      answer(services, call, async ({ signIns }) => {
        const { username, password } = await readJsonBody(SignInBody, call.request, reader);
        return shownTokens(await signIns().signIn({ username, password }, addressOf(call)));
      }),
    )
    .post(`${PATH}/refresh`, about("Get the next tokens", RefreshBody, "Each refresh token is used once."), (call) =>
      answer(services, call, async ({ signIns }) => {
        const { refreshToken } = await readJsonBody(RefreshBody, call.request, reader);
        return shownTokens(await signIns().refresh(refreshToken, addressOf(call)));
      }),
    )
    .post(`${PATH}/reset-password`, about("Set a new password", ResetBody, "All other sign-ins of the user end."), (call) =>
      answer(services, call, async ({ signIns }) => {
        const { newPassword, username, password } = await readJsonBody(ResetBody, call.request, reader);
        return shownTokens(await signIns().resetPassword({ username, password }, newPassword, addressOf(call)));
      }),
    )
    .post(
      `${PATH}/oauth`,
      about("Sign in by the identity provider", OAuthBody, "With the code of the provider (OpenID Connect)."),
      (call) =>
        answer(services, call, async ({ signIns }) => {
          const { code, codeVerifier, redirectUri, nonce = null, iss = null } = await readJsonBody(OAuthBody, call.request, reader);
          return shownTokens(await signIns().signInByProvider({ code, codeVerifier, redirectUri, nonce, iss }, addressOf(call)));
        }),
    )
    .post(`${PATH}/logout`, OPERATIONS.signOut, (call) =>
      answer(services, call, async ({ signIns }) => {
        const { refreshToken } = await readJsonBody(RefreshBody, call.request, reader);
        await signIns().signOut(refreshToken, addressOf(call));
        return {};
      }),
    )
    .get("/api/v3/auth/oauth/config", OPERATIONS.providerConfig, (call) =>
      answer(services, call, async ({ providerConfig }) => ({ ...(await providerConfig()), codeChallengeMethod: "S256" })),
    )
    .post("/api/v3/configure/user", OPERATIONS.createFirst, (call) =>
      answer(services, call, async (accounts) => {
        const { username, password, displayName = null } = await readJsonBody(FirstBody, call.request, reader);
        const admin = accounts.needsAdmin()
          ? await services.access.admit(call.request, call.target, { rule: "admin", takesPassword: false })
          : null;
        if (admin instanceof Response) return admin;
        const { user, operatorToken } = await accounts.createFirst({ username, password, displayName }, admin, addressOf(call));
        return shownUser(user, { operatorToken });
      }),
    );
};
