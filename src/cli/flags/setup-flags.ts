// The first user, organization, bucket and token of the bucket-based API, made when the server starts: for containers, by environment.
import { TsdbError } from "../../model/errors.ts";
import { parseHumanDuration } from "../../model/time/human-duration.ts";
import { SECOND_NS } from "../../model/time/time-units.ts";
import type { Flag } from "../flag.ts";

const GROUP = "Buckets (v2)";

export const SETUP_FLAGS = [
  {
    name: "init-mode",
    group: GROUP,
    value: "MODE",
    help: "`setup`: with the flags that follow, make the first user, organization, bucket and token at the first start. Later starts ignore them.",
    default: "setup",
    aliases: ["DOCKER_INFLUXDB_INIT_MODE"],
  },
  {
    name: "init-username",
    group: GROUP,
    value: "NAME",
    help: "The first user, with every permission.",
    default: null,
    aliases: ["DOCKER_INFLUXDB_INIT_USERNAME"],
  },
  {
    name: "init-username-file",
    group: GROUP,
    value: "FILE",
    help: "The same, read from a file.",
    default: null,
    aliases: ["DOCKER_INFLUXDB_INIT_USERNAME_FILE"],
  },
  {
    name: "init-password",
    group: GROUP,
    value: "PASSWORD",
    help: "The user's password, 8 to 72 characters; better by environment, or in a file: flags are seen by others.",
    default: null,
    isSecret: true,
    aliases: ["DOCKER_INFLUXDB_INIT_PASSWORD"],
  },
  {
    name: "init-password-file",
    group: GROUP,
    value: "FILE",
    help: "The same, read from a file.",
    default: null,
    aliases: ["DOCKER_INFLUXDB_INIT_PASSWORD_FILE"],
  },
  {
    name: "init-org",
    group: GROUP,
    value: "NAME",
    help: "The first organization.",
    default: null,
    aliases: ["DOCKER_INFLUXDB_INIT_ORG"],
  },
  {
    name: "init-bucket",
    group: GROUP,
    value: "NAME",
    help: "Its first bucket.",
    default: null,
    aliases: ["DOCKER_INFLUXDB_INIT_BUCKET"],
  },
  {
    name: "init-retention",
    group: GROUP,
    value: "DURATION",
    help: "How long the bucket keeps its rows, as 30d or 1w, an hour or more; 0 is for ever.",
    default: "0",
    aliases: ["DOCKER_INFLUXDB_INIT_RETENTION"],
  },
  {
    name: "init-admin-token",
    group: GROUP,
    value: "TOKEN",
    help: "The operator's token; without it one is made, which `tsdb recovery auth list` shows.",
    default: null,
    isSecret: true,
    aliases: ["DOCKER_INFLUXDB_INIT_ADMIN_TOKEN"],
  },
  {
    name: "init-admin-token-file",
    group: GROUP,
    value: "FILE",
    help: "The same, read from a file.",
    default: null,
    aliases: ["DOCKER_INFLUXDB_INIT_ADMIN_TOKEN_FILE"],
  },
] as const satisfies readonly Flag[];

export interface InitialSetup {
  readonly username: string;
  readonly password: string;
  readonly org: string;
  readonly bucket: string;
  /** Null: one is made. */
  readonly token: string | null;
  /** 0 = for ever. */
  readonly everySeconds: number;
}

type SetupFlagName = (typeof SETUP_FLAGS)[number]["name"];

/** The part of a FlagReader that reads these flags. */
interface SetupFlagReader {
  optional(name: SetupFlagName): string | null;
  oneOf<T extends string>(name: SetupFlagName, values: readonly T[]): T;
  file<T>(name: SetupFlagName, parse: (text: string) => T): { readonly content: T } | null;
  paths(names: readonly SetupFlagName[]): { readonly source: string; readonly path: string }[];
}

/** Null: none of them is given. @throws TsdbError config when some are missing */
export function readSetup(read: SetupFlagReader): InitialSetup | null {
  read.oneOf("init-mode", ["setup"]);
  const either = (name: "init-username" | "init-password" | "init-admin-token") => {
    const [text, file] = [read.optional(name), read.file(`${name}-file`, lineOf)];
    if (text !== null && file !== null) throw new TsdbError("config", `--${name} and --${name}-file are both given; one of them`);
    return text ?? file?.content ?? null;
  };
  const everySeconds = retentionSeconds(read.optional("init-retention")!);
  const needed = {
    username: either("init-username"),
    password: either("init-password"),
    org: read.optional("init-org"),
    bucket: read.optional("init-bucket"),
  };
  const token = either("init-admin-token");
  const missing = Object.entries(needed).flatMap(([name, value]) => (value === null ? [`--init-${name}`] : []));
  if (missing.length === 4 && token === null) return null;
  if (missing.length > 0)
    throw new TsdbError("config", `the first setup needs ${missing.join(", ")} too, or their variables as TSDB_INIT_ORG`);
  const { username, password, org, bucket } = needed as Record<keyof typeof needed, string>;
  return { username, password, org, bucket, token, everySeconds };
}

/** Editors end a file with a line break. @throws TsdbError config */
function lineOf(text: string): string {
  const line = text.replace(/\r?\n$/, "");
  if (line.trim() === "" || line.includes("\n")) throw new TsdbError("config", "want one line of text");
  return line;
}

/** Whole seconds, at least one hour or 0; shorter ones are refused where the bucket is made. @throws TsdbError config */
export function retentionSeconds(text: string): number {
  if (/^0+[a-z]*$/.test(text.trim())) return 0;
  try {
    return Number((parseHumanDuration(text) + SECOND_NS - 1n) / SECOND_NS);
  } catch (error) {
    throw new TsdbError("config", `--init-retention: ${(error as Error).message}`);
  }
}
