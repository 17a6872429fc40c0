// Calls of Arrow Flight, for scrapers.
import type Registry from "prom-client/lib/registry.js";
import { LATENCY_BUCKETS_SECONDS, SIZE_BUCKETS } from "./buckets.ts";
import { Buckets, registerHistogram } from "./plain-histogram.ts";
import { registerCounter } from "./scraped-counter.ts";

export interface GrpcCallCounts {
  /** The method's path, one of a few. */
  readonly path: string;
  readonly outcome: string;
  readonly seconds: number;
  readonly bytes: number;
}

interface Outcome {
  readonly labels: { readonly path: string; readonly status: string };
  readonly seconds: Buckets;
  readonly sizes: Buckets;
  calls: number;
}

/** By method and by what became of them. */
export class GrpcMetrics {
  private readonly outcomes = new Map<string, Outcome>();

  constructor(registry: Registry) {
    const { outcomes } = this;
    const time = { name: "grpc_request_duration_seconds", help: "Time from a call of Arrow Flight to its last message" };
    registerHistogram(registry, time, () => [...outcomes.values()].map(({ seconds }) => seconds));
    const size = { name: "grpc_response_body_size_bytes", help: "Bytes of the messages that a call of Arrow Flight got" };
    registerHistogram(registry, size, () => [...outcomes.values()].map(({ sizes }) => sizes));
    const total = { name: "grpc_requests_total", help: "Calls of Arrow Flight that have ended", labelNames: ["path", "status"] };
    registerCounter(registry, total, () => [...outcomes.values()].map(({ labels, calls }) => [labels, calls]));
  }

  add({ path, outcome, seconds, bytes }: GrpcCallCounts): void {
    const counts = this.outcomes.get(`${path} ${outcome}`) ?? this.begin({ path, status: outcome });
    counts.calls++;
    counts.seconds.observe(seconds);
    counts.sizes.observe(bytes);
  }

  private begin(labels: Outcome["labels"]): Outcome {
    const counts = { labels, seconds: new Buckets(labels, LATENCY_BUCKETS_SECONDS), sizes: new Buckets(labels, SIZE_BUCKETS), calls: 0 };
    this.outcomes.set(`${labels.path} ${labels.status}`, counts);
    return counts;
  }
}
