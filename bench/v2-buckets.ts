// Measures listing many buckets, page by page, with labels on some of them.
import { type Answer, type Bench, median } from "./support/bench.ts";
import { BucketServer } from "./support/ours-v2.ts";

const PAGE = 100;
const ROUNDS = 5;
const MAKERS = 16;
const GOAL = { atMost: 20 };

interface Page {
  readonly buckets: readonly { readonly id: string; readonly name: string }[];
}

export const v2Buckets: Bench = {
  name: "v2-buckets",
  async run(size, say, { rows = size === "real" ? 10_000 : 300 } = {}) {
    const server = await BucketServer.start();
    try {
      await make(server, rows, say);
      const all = `/api/v2/buckets?limit=${PAGE}`;
      const ofOrg = `${all}&orgID=${server.orgID}`;
      const lists: readonly (readonly [what: string, next: (page: Page, seen: number) => string])[] = [
        ["by offset, of an organization", (_, seen) => `${ofOrg}&offset=${seen}`],
        ["by offset, all", (_, seen) => `${all}&offset=${seen}`],
        ["after the last one, all", ({ buckets }, seen) => (seen === 0 ? all : `${all}&after=${buckets.at(-1)!.id}`)],
        ["the last first, of an organization", (_, seen) => `${ofOrg}&descending=true&offset=${seen}`],
      ];
      const answers: Answer[] = [];
      for (const [what, next] of lists)
        answers.push({ ...(await listed(server, rows, what, next)), ...(size === "real" ? { goal: GOAL } : {}) });
      return answers;
    } finally {
      await server.dispose();
    }
  },
};

async function make(server: BucketServer, count: number, say: (line: string) => void): Promise<void> {
  const { label } = await server.ask<{ label: { id: string } }>("POST", "/api/v2/labels", { orgID: server.orgID, name: "l" });
  const startedMs = performance.now();
  let next = 0;
  const maker = async () => {
    for (let i = next++; i < count; i = next++) {
      const bucket = await server.ask<{ id: string }>("POST", "/api/v2/buckets", { orgID: server.orgID, name: `bucket ${i}` });
      if (i % 10 === 0) await server.ask("POST", `/api/v2/buckets/${bucket.id}/labels`, { labelID: label.id });
    }
  };
  await Promise.all(Array.from({ length: MAKERS }, maker));
  say(`${count} buckets made in ${Math.round(performance.now() - startedMs)} ms`);
}

/** The slowest page, of each the median over some rounds. @throws Error unless every bucket is in one page */
async function listed(server: BucketServer, count: number, what: string, next: (page: Page, seen: number) => string): Promise<Answer> {
  const times: number[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const seen = new Set<string>();
    let page: Page = { buckets: [] };
    for (let i = 0; ; i++) {
      const path = next(page, seen.size);
      const startedMs = performance.now();
      page = await server.ask<Page>("GET", path);
      times[i] = [...(times[i] ?? []), performance.now() - startedMs];
      for (const { id } of page.buckets) seen.add(id);
      if (page.buckets.length < PAGE) break;
    }
    // with the first one, and two of the system
    if (seen.size !== count + 3) throw new Error(`${what}: ${seen.size} buckets of ${count + 3}`);
  }
  const medians = times.map(median);
  const value = Math.max(...medians);
  const detail = `median of ${medians.length} pages ${median(medians).toPrecision(3)} ms`;
  return { what: `slowest page of ${PAGE} of ${count} buckets, ${what}`, value, unit: "ms", detail };
}
