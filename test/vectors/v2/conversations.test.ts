// Recorded conversations with the vendor's server, replayed against ours: each step is compared, or the table says why it differs.
import { describe, expect, test } from "bun:test";
import { type Conversation, readConversations } from "./conversation.ts";
import { DIFFERENCES } from "./differences.ts";
import { lightServerOf } from "./light-server.ts";
import { type PlayedServer, replay } from "./replay.ts";
import { LIGHT_GROUPS, missingPart } from "./scope.ts";

/** What differs and is not in the table, and what is in the table and does not. */
async function unexpected(conversation: Conversation, server: PlayedServer): Promise<string[]> {
  const name = `${conversation.group} / ${conversation.name}`;
  const tabled = new Set(DIFFERENCES.filter((each) => each.conversation === name).flatMap(({ steps }) => steps));
  const outcomes = await replay(conversation, server).finally(() => server.stop());
  return outcomes.flatMap(({ index, mismatch, request }) => {
    if (tabled.has(index)) return mismatch === null ? [`#${index} ${request}: no longer differs`] : [];
    return mismatch === null || missingPart(request, mismatch) !== null ? [] : [`#${index} ${request}: ${mismatch}`];
  });
}

for (const group of LIGHT_GROUPS) {
  describe(group, () => {
    test.each(readConversations(group).map((conversation) => [conversation.name, conversation] as const))("%s", async (_, conversation) => {
      expect(await unexpected(conversation, await lightServerOf(conversation.serverFlags))).toEqual([]);
    });
  });
}

test("the table names conversations and steps that there are", () => {
  const all = new Map(LIGHT_GROUPS.flatMap((group) => readConversations(group)).map((each) => [`${each.group} / ${each.name}`, each]));
  for (const { conversation, steps } of DIFFERENCES) {
    expect(all.has(conversation), conversation).toBe(true);
    for (const step of steps) expect(step).toBeLessThan(all.get(conversation)!.steps.length);
  }
});
