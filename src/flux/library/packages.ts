// All packages that scripts can import.
import { ARRAY } from "./array/array.ts";
import { BOOLEAN } from "./boolean.ts";
import { CSV } from "./csv/csv.ts";
import { BOUNDARIES } from "./date/boundaries.ts";
import { DATE } from "./date/date.ts";
import { DEBUG, GENERATE } from "./debug/debug.ts";
import { EXPERIMENTAL } from "./experimental/experimental.ts";
import { INFLUXDB } from "./influxdb/influxdb.ts";
import { JOIN } from "./join/join.ts";
import { DYNAMIC_PACKAGE, EXPERIMENTAL_JSON, JSON_PACKAGE } from "./json/json.ts";
import { Library } from "./library.ts";
import { MATH } from "./math/math.ts";
import { BITWISE, DICT, TIMEZONE, TYPES } from "./scalars/scalars.ts";
import {
  AGGREGATE,
  EXPERIMENTAL_ARRAY,
  PLANNER,
  PROFILER,
  QUERY,
  RECORD,
  REGEXP_PACKAGE,
  RUNTIME,
  SYSTEM,
  TABLE,
  TASKS,
  TESTING,
} from "./scalars/small.ts";
import { SCHEMA, V1 } from "./schema/schema.ts";
import { STRINGS } from "./strings/strings.ts";
import { INTERPOLATE } from "./universe/interpolate.ts";
import { UNIVERSE } from "./universe/universe.ts";

let known: Library | null = null;

/** Made once in a process: packages are parsed when a script first imports them. */
export function fluxLibrary(): Library {
  known ??= new Library([
    BOOLEAN,
    UNIVERSE,
    INFLUXDB,
    ARRAY,
    CSV,
    STRINGS,
    MATH,
    DATE,
    BOUNDARIES,
    TIMEZONE,
    TYPES,
    BITWISE,
    DICT,
    SCHEMA,
    V1,
    JOIN,
    JSON_PACKAGE,
    EXPERIMENTAL_JSON,
    DYNAMIC_PACKAGE,
    DEBUG,
    GENERATE,
    EXPERIMENTAL,
    INTERPOLATE,
    AGGREGATE,
    EXPERIMENTAL_ARRAY,
    PLANNER,
    PROFILER,
    QUERY,
    RECORD,
    REGEXP_PACKAGE,
    RUNTIME,
    SYSTEM,
    TABLE,
    TASKS,
    TESTING,
  ]);
  return known;
}
