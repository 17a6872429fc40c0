// The secrets that a script has asked for: messages of what fails must not show them, because runs of tasks keep those.
import { FluxError } from "../../flux/values/flux-error.ts";
import { TsdbError } from "../../model/errors.ts";
import type { FluxSecrets } from "../../model/query/flux.ts";

/** Shorter ones are parts of many words. */
const LENGTH_MIN = 4;

/** Gives a script its organization's secrets, and takes them out of messages. */
export class GivenSecrets {
  private readonly given = new Set<string>();

  constructor(private readonly secrets: FluxSecrets) {}

  /** Null: there is none. @throws FluxError forbidden */
  get(key: string): string | null {
    const { secrets } = this;
    if ("refusal" in secrets) throw new FluxError(secrets.refusal, "forbidden");
    if (!Object.hasOwn(secrets.values, key)) return null;
    const value = secrets.values[key]!;
    if (value === null) throw new FluxError(`the secret ${JSON.stringify(key)} was encrypted with another key`);
    if (value.length >= LENGTH_MIN) this.given.add(value);
    return value;
  }

  /** What the request gives; an error of it without the secrets. */
  async hiding<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      if (!(error instanceof Error) || this.given.size === 0) throw error;
      const message = this.without(error.message);
      if (message === error.message) throw error;
      throw error instanceof TsdbError ? new TsdbError(error.kind, message, error.details) : new Error(message);
    }
  }

  private without(text: string): string {
    let shown = text;
    for (const secret of this.given) {
      for (const form of [secret, encodeURI(secret.toWellFormed()), encodeURIComponent(secret.toWellFormed())]) {
        shown = shown.replaceAll(form, "***");
      }
    }
    return shown;
  }
}
