// The flags of the bucket-based API.
import type { Flag } from "../flag.ts";

export const V2_FLAGS = [
  {
    name: "v2-http-bind",
    group: "Buckets (v2)",
    value: "ADDRESS",
    help: "Address of the bucket-based API: organizations, buckets, users, tokens of its own. `off` turns it off; a taken one is a warning.",
    default: "127.0.0.1:8086",
    aliases: ["INFLUXD_HTTP_BIND_ADDRESS"],
  },
  {
    name: "v2-default-bucket-retention",
    group: "Buckets (v2)",
    value: "DURATION",
    help: "How long a bucket keeps its rows that is made without retentionRules; 0 is for ever.",
    default: "30d",
  },
  {
    name: "v2-session-length",
    group: "Buckets (v2)",
    value: "DURATION",
    help: "How long a user stays signed in without requests.",
    default: "60m",
  },
  {
    name: "v2-session-renew-disabled",
    group: "Buckets (v2)",
    value: null,
    help: "Requests do not prolong their session.",
    default: "false",
    aliases: ["INFLUXD_SESSION_RENEW_DISABLED"],
  },
  {
    name: "v2-strong-passwords",
    group: "Buckets (v2)",
    value: null,
    help: "Passwords need three of: upper case, lower case, digits, special characters.",
    default: "false",
    aliases: ["INFLUXD_STRONG_PASSWORDS"],
  },
  {
    name: "v2-use-hashed-tokens",
    group: "Buckets (v2)",
    value: null,
    help: "Show an API token once, when it is made, and keep its hash alone. Otherwise lists show it, and it is kept encrypted.",
    default: "false",
    aliases: ["INFLUXD_USE_HASHED_TOKENS"],
  },
  {
    name: "v2-secret-key-file",
    group: "Buckets (v2)",
    value: "FILE",
    help: "Key of API tokens and secrets, 64 hex digits. Without it one is made beside the data.",
    default: null,
  },
  {
    name: "v2-metrics-disabled",
    group: "Buckets (v2)",
    value: null,
    help: "No /metrics on this address, where it needs no token.",
    default: "false",
    aliases: ["INFLUXD_METRICS_DISABLED"],
  },
  {
    name: "v2-pprof-disabled",
    group: "Buckets (v2)",
    value: null,
    help: "No /debug/pprof.",
    default: "false",
    aliases: ["INFLUXD_PPROF_DISABLED"],
  },
] as const satisfies readonly Flag[];
