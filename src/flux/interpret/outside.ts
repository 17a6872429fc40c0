// Answers from outside within functions that cannot wait: the evaluation is broken off, and repeated when the answer is there. Functions of
// scripts have no effects but these calls, so a repetition gives the same values up to the call, which is answered from memory.
import { FluxError } from "../values/flux-error.ts";
import type { RunUse } from "./run-limits.ts";

type Answer = { readonly value: unknown } | { readonly error: unknown };

/** Thrown where an answer is missing; `arrived` never rejects. */
export class AnswerPending extends Error {
  constructor(readonly arrived: Promise<void>) {
    super("an answer from outside is pending");
  }
}

const CALLS_MAX = 10_000;
/** A stream that a script reads in the midst of its evaluation is read at once for so long, */
const AT_ONCE_MS = 20;
/** and then in parts of this length. */
const PART_MS = 5;

/** A stream that was read, with the number of the call behind it. */
type Computed = Answer & { readonly next: number };

/** The calls of one evaluation, in their order. */
export class OutsideCalls {
  private answers: Answer[] = [];
  private next = 0;
  private total = 0;
  private computed: Computed[] = [];
  private nextComputed = 0;
  /** Set while a stream pauses for an answer; the caller of the stream waits for it and clears it. */
  waiting: Promise<void> | null = null;
  /** False while the script itself is evaluated: streams that it reads then are read again with it. */
  private isStreaming = false;

  /** The answer of the next call. @throws AnswerPending, or what `start` rejects with */
  call<T>(start: () => Promise<T>): T {
    const answer = this.answers[this.next];
    if (answer !== undefined) {
      this.next++;
      if ("error" in answer) throw answer.error;
      return answer.value as T;
    }
    if (++this.total > CALLS_MAX) throw new FluxError(`a script may make at most ${CALLS_MAX} requests`);
    const at = this.next;
    const { answers } = this;
    const keep = (given: Answer) => {
      answers[at] = given;
    };
    const arrived = start().then(
      (value) => keep({ value }),
      (error: unknown) => keep({ error }),
    );
    throw new AnswerPending(arrived);
  }

  /** The result of `steps`, which pause. What takes long is computed while others run, and the evaluation is repeated.
   *  @throws AnswerPending, or what the steps throw */
  compute<T>(steps: () => Generator<null, T, void>, use: RunUse): T {
    const known = this.computed[this.nextComputed];
    if (known !== undefined) {
      this.nextComputed++;
      this.next = known.next;
      if ("error" in known) throw known.error;
      return known.value as T;
    }
    const work = steps();
    const startMs = performance.now();
    for (let result = work.next(); ; result = work.next()) {
      if (result.done === true) return this.keep({ value: result.value, next: this.next }, result.value);
      if (this.isStreaming) use.check();
      else if (performance.now() - startMs > AT_ONCE_MS) throw new AnswerPending(this.finish(work, use));
    }
  }

  private keep<T>(computed: Computed, value: T): T {
    if (!this.isStreaming) this.computed[this.nextComputed++] = computed;
    return value;
  }

  private async finish(work: Generator<null, unknown, void>, use: RunUse): Promise<void> {
    try {
      for (let pausedAtMs = 0; ; ) {
        if (performance.now() - pausedAtMs > PART_MS) {
          await new Promise((resolve) => setImmediate(resolve));
          use.check();
          use.pause();
          pausedAtMs = performance.now();
        }
        const result = work.next();
        if (result.done !== true) continue;
        this.computed[this.nextComputed] = { value: result.value, next: this.next };
        return;
      }
    } catch (error) {
      // rows that the stream lacks are there when it is read again
      if (error instanceof AnswerPending) await error.arrived;
      else this.computed[this.nextComputed] = { error, next: this.next };
    }
  }

  /** Pauses until the promise has settled. */
  *pauseFor(promise: Promise<void>): Generator<null, void, void> {
    this.waiting = promise;
    yield null;
    if (this.waiting !== null) throw new FluxError("an answer from outside cannot be waited for here");
  }

  /** Pauses until the answer is there. @throws what is no pending answer */
  *wait(error: unknown): Generator<null, void, void> {
    if (!(error instanceof AnswerPending) || !this.isStreaming) throw error;
    yield* this.pauseFor(error.arrived);
    this.repeat();
  }

  /** The evaluation begins again. */
  repeat(): void {
    this.next = 0;
    this.nextComputed = 0;
  }

  /** A row's evaluation within a stream is complete: another one begins. */
  done(): void {
    if (this.next > 0 && this.isStreaming) this.forget();
  }

  /** The script is evaluated, and its streams are read. */
  stream(): void {
    this.isStreaming = true;
    this.forget();
  }

  private forget(): void {
    this.answers = [];
    this.computed = [];
    this.next = 0;
    this.nextComputed = 0;
  }
}
