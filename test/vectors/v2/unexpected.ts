// One conversation against the table of differences.
import type { Conversation } from "./conversation.ts";
import { DIFFERENCES } from "./differences.ts";
import { type PlayedServer, replay } from "./replay.ts";
import { missingPart } from "./scope.ts";

/** What differs and is not in the table, and what is in the table and does not. */
export async function unexpected(conversation: Conversation, server: PlayedServer): Promise<string[]> {
  const name = `${conversation.group} / ${conversation.name}`;
  const tabled = new Set(DIFFERENCES.filter((each) => each.conversation === name).flatMap(({ steps }) => steps));
  const outcomes = await replay(conversation, server).finally(() => server.stop());
  return outcomes.flatMap(({ index, mismatch, request }) => {
    if (tabled.has(index)) return mismatch === null ? [`#${index} ${request}: no longer differs`] : [];
    return mismatch === null || missingPart(mismatch) !== null ? [] : [`#${index} ${request}: ${mismatch}`];
  });
}
