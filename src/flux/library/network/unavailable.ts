// Packages for systems that this server does not speak to: scripts that use them are read and checked, and say at the call what is missing.

import { durationText } from "../../values/duration.ts";
import { FluxError } from "../../values/flux-error.ts";
import type { LibraryPackage, NativeBody } from "../native-call.ts";

function unavailable(what: string): NativeBody {
  return () => {
    throw new FluxError(`${what} is not available on this server`);
  };
}

export const BIGTABLE: LibraryPackage = {
  path: "experimental/bigtable",
  name: "bigtable",
  source: "builtin from : (token: string, project: string, instance: string, table: string) => stream[T] where T: Record",
  natives: { from: unavailable("Bigtable") },
};

const UNITS: Readonly<Record<string, string>> = {
  ...{ ns: "nanoseconds", us: "microseconds", ms: "milliseconds", s: "seconds", m: "minutes", h: "hours" },
  ...{ d: "days", w: "weeks", mo: "months", y: "years" },
};

export const IOX: LibraryPackage = {
  path: "experimental/iox",
  name: "iox",
  source: `
builtin from : (bucket: string, measurement: string) => stream[{A with _time: time}] where A: Record
builtin sql : (bucket: string, query: string) => stream[A] where A: Record
builtin sqlInterval : (d: A) => string where A: Equatable
`,
  natives: {
    from: unavailable("iox.from()"),
    sql: unavailable("iox.sql()"),
    /** `1h30m` → `1 hours 30 minutes`. */
    sqlInterval: (call) =>
      [...durationText(call.duration("d")).matchAll(/(-?\d+)([a-z]+)/g)].map(([, count, unit]) => `${count} ${UNITS[unit!]}`).join(" "),
  },
};

export const KAFKA: LibraryPackage = {
  path: "kafka",
  name: "kafka",
  source:
    "builtin to : (<-tables: stream[A], brokers: [string], topic: string, ?balancer: string, ?name: string, ?nameColumn: string, ?timeColumn: string, ?tagColumns: [string], ?valueColumns: [string]) => stream[A] where A: Record",
  natives: { to: unavailable("Kafka") },
};

export const SOCKET: LibraryPackage = {
  path: "socket",
  name: "socket",
  source: "builtin from : (url: string, ?decoder: string) => stream[A] where A: Record",
  natives: { from: unavailable("socket.from()") },
};
