// A trigger that answers requests to a path.
import { TsdbError } from "../model/errors.ts";
import type { EngineAnswer, EngineRequest, EngineRoute } from "../model/triggers.ts";
import type { TriggerCalls } from "./trigger-calls.ts";

/** Maximum running and waiting requests of a trigger. */
const REQUESTS_MAX = 100;

/** Answers the requests of one path by its plugin. */
export class RequestTrigger implements EngineRoute {
  private waiting = 0;

  constructor(
    readonly database: string,
    readonly path: string,
    private readonly calls: TriggerCalls,
  ) {}

  async run({ query, headers, body, signal }: EngineRequest): Promise<EngineAnswer> {
    if (this.waiting >= REQUESTS_MAX) throw new TsdbError("overloaded", `${REQUESTS_MAX} requests to this path run already; try again`);
    this.waiting++;
    try {
      const result = await this.calls.run({ kind: "request", query, headers, body }, { signal });
      if (result.kind === "failed") throw new TsdbError("plugin", result.failure.message);
      if (result.kind === "done") return result.response ?? { status: 200, headers: [], body: new Uint8Array() };
      if (signal.aborted) throw new TsdbError("cancelled", "the client closed the connection");
      throw new TsdbError("unavailable", "the trigger was stopped");
    } finally {
      this.waiting--;
    }
  }
}
