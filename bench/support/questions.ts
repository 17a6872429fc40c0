// Which of TSBS's queries this server is asked.
import { prng } from "../../test/support/prng.ts";
import type { TestServer } from "../../test/support/server.ts";
import { TSBS_QUERIES, type TsbsExtent, type TsbsQuery } from "../data/tsbs-queries.ts";
import { askOurs } from "./ours.ts";

/** Those with `only` in their names, without those that use what the dialect has not got; `say` tells which. */
export async function questionsFor(
  server: TestServer,
  extent: TsbsExtent,
  only: string | undefined,
  say: (line: string) => void,
): Promise<TsbsQuery[]> {
  const found: TsbsQuery[] = [];
  for (const question of TSBS_QUERIES.filter(({ name }) => name.includes(only ?? ""))) {
    if (question.mayBeRefused && (await isRefused(server, question, extent))) {
      say(`${question.name}: the dialect has not got it; left out`);
    } else found.push(question);
  }
  return found;
}

async function isRefused(server: TestServer, question: TsbsQuery, extent: TsbsExtent): Promise<boolean> {
  return await askOurs(server, question.statement(extent, prng(1)).sql).then(
    () => false,
    (error: unknown) => /Invalid function|does not exist/.test(String(error)),
  );
}
