// Operations on remote connections and replications.
import { Type as t } from "@sinclair/typebox";
import { RemoteBody, RemoteUpdateBody } from "../replication/remotes.ts";
import { ReplicationBody, ReplicationUpdateBody } from "../replication/replications.ts";
import { done, id, jsonOf, made, ok, requiring, text, type V2Operations } from "./described.ts";
import { RemoteShape, RemotesShape, ReplicationShape, ReplicationsShape } from "./shapes.ts";

const tag = "Replication";
const REMOTE = "/api/v2/remotes/:remoteID";
const REPLICATION_ITEM = "/api/v2/replications/:replicationID";
const validate = text("`true`: an empty request is sent to the remote, and nothing is stored; 204 if it takes it, else 400.");
const orgID = t.String({ pattern: "^[0-9a-f]{16}$", description: "Of this organization." });

/** By `METHOD path`. */
export const REPLICATION: V2Operations = {
  "GET /api/v2/remotes": {
    tag,
    summary: "Lists remote connections",
    query: { orgID, name: text("Of this name."), remoteURL: text("To this address.") },
    answers: ok("Those that the sender may read; null: there are none.", RemotesShape),
  },
  "POST /api/v2/remotes": {
    tag,
    summary: "Makes a remote connection",
    description: "A server that replications send rows to. The token is kept encrypted, and no answer has it.",
    body: jsonOf(requiring(RemoteBody, "orgID")),
    answers: made("As made.", RemoteShape),
  },
  [`GET ${REMOTE}`]: { tag, summary: "Shows a remote connection", answers: ok("The connection.", RemoteShape) },
  [`PATCH ${REMOTE}`]: {
    tag,
    summary: "Changes a remote connection",
    body: jsonOf(RemoteUpdateBody),
    answers: ok("As changed.", RemoteShape),
  },
  [`DELETE ${REMOTE}`]: { tag, summary: "Deletes a remote connection; 500 while a replication sends there", answers: done("It is gone.") },
  "GET /api/v2/replications": {
    tag,
    summary: "Lists replications",
    query: {
      ...{ orgID, name: text("Of this name."), remoteID: id("To this remote connection.") },
      localBucketID: id("Of this bucket."),
    },
    answers: ok("Those that the sender may read; null: there are none.", ReplicationsShape),
  },
  "POST /api/v2/replications": {
    tag,
    summary: "Sends the new rows of a bucket to a remote",
    description:
      "Rows written from now on, by any interface, are queued on disk and sent in order, at least once. Needed are the right to write replications, and to read the bucket and the remote connection.",
    query: { validate },
    body: jsonOf(requiring(ReplicationBody, "orgID", "remoteID", "localBucketID")),
    answers: {
      ...made("As made.", ReplicationShape),
      204: { description: "Validated." },
      422: { description: "Neither id nor name of the remote bucket." },
    },
  },
  [`GET ${REPLICATION_ITEM}`]: { tag, summary: "Shows a replication and its queue", answers: ok("The replication.", ReplicationShape) },
  [`PATCH ${REPLICATION_ITEM}`]: {
    tag,
    summary: "Changes a replication; its queue is sent to the new place",
    query: { validate },
    body: jsonOf(ReplicationUpdateBody),
    answers: {
      ...ok("As changed.", ReplicationShape),
      204: { description: "Validated." },
      422: { description: "Neither id nor name of the remote bucket." },
    },
  },
  [`DELETE ${REPLICATION_ITEM}`]: { tag, summary: "Deletes a replication and its queue", answers: done("It is gone.") },
  [`POST ${REPLICATION_ITEM}/validate`]: {
    tag,
    summary: "Asks the remote whether it takes rows of a replication",
    answers: done("It does; else 400 with its answer."),
  },
};
