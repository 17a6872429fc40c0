// The recorded conversations of data/ as the replayer reads them; README.md says what each member means.
import { readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dir, "data");

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export interface RequestStep {
  readonly as: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string | readonly string[]>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly bodyBase64?: string;
  readonly gzip?: boolean;
  readonly status: number;
  readonly answerHeaders?: Readonly<Record<string, string>>;
  readonly answer?: Json;
  readonly answerParts?: readonly { readonly headers: Readonly<Record<string, string>>; readonly body: Json }[];
  readonly yaml?: boolean;
  readonly unordered?: readonly string[];
  /** Seconds. */
  readonly repeat?: number;
  /** Seconds. */
  readonly delay?: number;
  readonly note?: string;
}

export interface ServeStep {
  readonly serve: { readonly path: string; readonly text?: string; readonly status?: number };
}

export interface ExpectStep {
  readonly expect: {
    readonly method?: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: Json;
    readonly count?: number;
  };
  /** Seconds. */
  readonly within: number;
}

export type Step = RequestStep | ServeStep | ExpectStep;

export interface Conversation {
  readonly group: string;
  readonly name: string;
  readonly start: "fresh" | "set up";
  readonly serverFlags?: readonly string[];
  readonly steps: readonly Step[];
}

/** The recorded conversations of a group. */
export function readConversations(group: string): Conversation[] {
  const all = JSON.parse(readFileSync(join(FOLDER, `${group}.json`), "utf8")) as Omit<Conversation, "group">[];
  return all.map((conversation) => ({ group, ...conversation }));
}

/** True for a step that sends a request. */
export function isRequest(step: Step): step is RequestStep {
  return "method" in step;
}
