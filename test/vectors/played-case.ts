// A recorded case of several requests with databases of its own: played step by step, so that something may happen to the rows in between.
import { contentDifference, type RecordedStep, stepDifference } from "./compare-steps.ts";
import { CaseNames, contentOf, playRequest, type RecordedRequest } from "./played-request.ts";
import type { StepsVector } from "./vectors.ts";

/** One recorded case, and the server that it runs against. */
export class PlayedCase {
  /** The first that differs, in words. */
  difference: string | null = null;
  private readonly names: CaseNames;
  private readonly before: readonly RecordedRequest[];
  private readonly steps: readonly RecordedStep[];

  /** @param number no other case of the server has it */
  constructor(
    readonly vector: StepsVector,
    number: number,
  ) {
    this.names = new CaseNames(number);
    this.before = vector.before ?? [];
    const { request = {}, status = 0, answer, heads } = vector;
    this.steps = vector.steps ?? [{ request, status, answer, ...(heads === undefined ? {} : { heads }) }];
  }

  /** The bodies before, the requests, and the look at what is there afterwards. */
  get stepCount(): number {
    return this.before.length + this.steps.length + 1;
  }

  async step(url: string, index: number): Promise<void> {
    if (this.isWaitInVain(index)) return;
    if (index < this.before.length) {
      await playRequest(url, this.before[index]!, this.names);
      return;
    }
    const at = index - this.before.length;
    const step = this.steps[at];
    const difference =
      step === undefined ? await this.contentDifference(url) : stepDifference(step, await playRequest(url, step.request, this.names));
    if (difference !== null) this.difference ??= `step ${at}: ${difference}`;
  }

  /** The vendor's caches take up rows a second late, and have been waited for. Here they show them at once, unless it is their age that
   *  is waited for. */
  private isWaitInVain(index: number): boolean {
    const at = index - this.before.length;
    return this.steps[at]?.request.sleep !== undefined && !this.steps.some(({ request }) => hasAge(request.json));
  }

  private async contentDifference(url: string): Promise<string | null> {
    const { request = {}, status = 0, after, cleanup } = this.vector;
    // of a body with bad lines /write and /api/v2/write store the good ones, and the vendor none
    const isPartial = status >= 400 && request.path !== "/api/v3/write_lp";
    if (after === undefined || isPartial) return null;
    return contentDifference(after, await contentOf(url, cleanup ?? this.names.fill("{db}")));
  }
}

function hasAge(json: unknown): boolean {
  return typeof json === "object" && json !== null && ("ttl" in json || "max_age" in json);
}
