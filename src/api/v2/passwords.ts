// Passwords of users: with the old one by their owner, without it by who may write the user.
import { Type as t } from "@sinclair/typebox";
import { checkPassword } from "../../metadata/access/passwords.ts";
import { readId } from "../../metadata/store/ids.ts";
import { TsdbError } from "../../model/errors.ts";
import { basicIn, sessionKeyIn } from "./app/admit.ts";
import { noContent } from "./app/answers.ts";
import { JsonBodies } from "./app/params.ts";
import { type V2Call, V2Routes } from "./app/route.ts";
import type { V2Services } from "./app/services.ts";

export const PasswordBody = t.Object({ password: t.Optional(t.String()) });

export const passwordRoutes = (services: V2Services): V2Routes => {
  const bodies = new JsonBodies(services.now);
  const { strongPasswords: strong } = services.options;

  /** Ends the sessions of the user, except that of the request. @param known the hash of the password that allows it; null: none is needed
   *  @throws TsdbError forbidden: it is another one by now */
  const store = async ({ request, principal }: V2Call, userID: string, password: string, known: string | null) => {
    const { users, passwords, sessions } = services.line();
    checkPassword(password, { strong });
    const hash = await passwords.hash(password);
    if (known !== null && users.passwordHash(userID) !== known) throw wrongPassword();
    await users.setPassword(userID, hash);
    sessions.endOthers(userID, principal.by === "session" && principal.userID === userID ? sessionKeyIn(request) : null);
    return noContent();
  };

  const change = async (call: V2Call, userID: string) => {
    const { users, passwords } = services.line();
    const credentials = basicIn(call.request);
    const { password = "" } = await bodies.read(PasswordBody, call.request, "error decoding password reset request: ");
    call.principal.require({ action: "write", type: "users", id: userID });
    if (credentials === null) throw new TsdbError("bad_request", "error decoding password reset request: invalid basic auth");
    const user = users.find(userID);
    const isOwn = user?.name === credentials.user;
    const hash = isOwn ? users.passwordHash(userID) : null;
    if (!(await passwords.verify(credentials.password, hash))) throw wrongPassword();
    return store(call, userID, password, hash);
  };

  return (
    new V2Routes(services)
      .put("/api/v2/me/password", (call) => change(call, call.principal.userID))
      // of no user: `password` is taken for an id, and is none
      .put("/api/v2/users/password", () => {
        throw new TsdbError("bad_request", "invalid user ID provided in route");
      })
      .put("/api/v2/users/:userID/password", (call) => change(call, readId(call.params["userID"]!)))
      .post("/api/v2/users/:userID/password", async (call) => {
        const userID = readId(call.params["userID"]!);
        const { password = "" } = await bodies.read(PasswordBody, call.request, "");
        call.principal.require({ action: "write", type: "users", id: userID });
        checkPassword(password, { strong });
        if (services.line().users.find(userID) === null) throw new TsdbError("forbidden", "your userID is incorrect");
        return store(call, userID, password, null);
      })
  );
};

function wrongPassword(): TsdbError {
  return new TsdbError("forbidden", "your username or password is incorrect");
}
