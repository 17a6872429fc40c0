// Plans by the exact text of their statements: LRU. A text that is repeated, as a dashboard does, needs no tokens, and no rewrite while its
// tables are as they were (known-plan.ts).

/** Approximate memory of a parsed and a physical plan, per character of the text. */
const BYTES_PER_CHAR = 200;

/** Plans by text, limited in bytes. */
export class KnownTexts<Plan> {
  /** Least recently used first. */
  private readonly plans = new Map<string, Plan>();
  private readonly charsMax: number;
  private chars = 0;

  /** @param bytesMax 0: no text is kept */
  constructor(bytesMax: number) {
    this.charsMax = bytesMax / BYTES_PER_CHAR;
  }

  find(text: string): Plan | null {
    const plan = this.plans.get(text);
    if (plan === undefined) return null;
    this.plans.delete(text);
    this.plans.set(text, plan);
    return plan;
  }

  /** Texts longer than a sixteenth of the limit are not kept. */
  keep(text: string, plan: Plan): void {
    if (text.length > this.charsMax / 16) return;
    if (!this.plans.has(text)) this.chars += text.length;
    this.plans.set(text, plan);
    for (const oldest of this.plans.keys()) {
      if (this.chars <= this.charsMax) break;
      this.plans.delete(oldest);
      this.chars -= oldest.length;
    }
  }
}
