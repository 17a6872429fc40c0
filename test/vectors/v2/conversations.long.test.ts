// Recorded conversations about rows, each replayed against a process of its own.
import { describe, expect, test } from "bun:test";
import { readConversations } from "./conversation.ts";
import { fullServerOf } from "./full-server.ts";
import { FULL_GROUPS, LIGHT_GROUPS, needsRows } from "./scope.ts";
import { unexpected } from "./unexpected.ts";

const ALL = [...FULL_GROUPS.flatMap(readConversations), ...LIGHT_GROUPS.flatMap(readConversations).filter(needsRows)];

for (const [group, conversations] of Map.groupBy(ALL, (conversation) => conversation.group)) {
  describe(group, () => {
    test.each(conversations.map((conversation) => [conversation.name, conversation] as const))("%s", async (_, conversation) => {
      expect(await unexpected(conversation, await fullServerOf(conversation.serverFlags))).toEqual([]);
    });
  });
}
