// Recorded conversations with the vendor's server, replayed against ours: each step is compared, or the table says why it differs.
import { describe, expect, test } from "bun:test";
import { readConversations } from "./conversation.ts";
import { DIFFERENCES } from "./differences.ts";
import { lightServerOf } from "./light-server.ts";
import { FULL_GROUPS, LIGHT_GROUPS, waitsForServer } from "./scope.ts";
import { unexpected } from "./unexpected.ts";

for (const group of LIGHT_GROUPS) {
  describe(group, () => {
    const conversations = readConversations(group).filter((conversation) => !waitsForServer(conversation));
    test.each(conversations.map((conversation) => [conversation.name, conversation] as const))("%s", async (_, conversation) => {
      expect(await unexpected(conversation, await lightServerOf(conversation.serverFlags))).toEqual([]);
    });
  });
}

test("the table names conversations and steps that there are", () => {
  const all = new Map(
    [...LIGHT_GROUPS, ...FULL_GROUPS].flatMap((group) => readConversations(group)).map((each) => [`${each.group} / ${each.name}`, each]),
  );
  for (const { conversation, steps } of DIFFERENCES) {
    expect(all.has(conversation), conversation).toBe(true);
    for (const step of steps) expect(step).toBeLessThan(all.get(conversation)!.steps.length);
  }
});
