// All packages that scripts can import.
import { ARRAY } from "./array/array.ts";
import { BOOLEAN } from "./boolean.ts";
import { CSV } from "./csv/csv.ts";
import { INFLUXDB } from "./influxdb/influxdb.ts";
import { Library } from "./library.ts";
import { UNIVERSE } from "./universe/universe.ts";

let known: Library | null = null;

/** Made once in a process: packages are parsed when a script first imports them. */
export function fluxLibrary(): Library {
  known ??= new Library([BOOLEAN, UNIVERSE, INFLUXDB, ARRAY, CSV]);
  return known;
}
