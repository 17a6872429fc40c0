// Times in bodies.
import { near, TsdbError } from "../../../model/errors.ts";

/** RFC 3339 as release 2.8.0 reads it: hours may have one digit, fractions any number, after a comma as well. */
const TIME = /^(\d{4}-\d\d-(\d\d))T(\d\d?)(:[0-5]\d:[0-5]\d)(?:[.,](\d+))?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** The time as clients see it: with as many of nine digits of a fraction as it needs. @throws TsdbError bad_request */
export function readBodyTime(given: string, head = ""): string {
  const [, date, day, hour, rest, fraction = "", zone] = TIME.exec(given) ?? [];
  // a day that the month does not have is one of the next month
  const isThere = date !== undefined && new Date(`${date}T00:00:00Z`).getUTCDate() === Number(day);
  if (!isThere || Number(hour) > 23)
    throw new TsdbError("bad_request", `${head}parsing time ${near(JSON.stringify(given))}: want RFC 3339`);
  const digits = fraction.slice(0, 9).replace(/0+$/, "");
  return `${date}T${hour!.padStart(2, "0")}${rest}${digits === "" ? "" : `.${digits}`}${/^[+-]00:00$/.test(zone!) ? "Z" : zone}`;
}
