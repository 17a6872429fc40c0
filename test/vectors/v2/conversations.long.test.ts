// Recorded conversations about rows, each replayed against a process of its own.
import { describe, expect, test } from "bun:test";
import { readConversations } from "./conversation.ts";
import { fullServerOf } from "./full-server.ts";
import { FULL_GROUPS } from "./scope.ts";
import { unexpected } from "./unexpected.ts";

for (const group of FULL_GROUPS) {
  describe(group, () => {
    test.each(readConversations(group).map((conversation) => [conversation.name, conversation] as const))("%s", async (_, conversation) => {
      expect(await unexpected(conversation, await fullServerOf(conversation.serverFlags))).toEqual([]);
    });
  });
}
