// Parses the date formats of the demo's data to nanoseconds since 1970. All are read as UTC.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const NUMERIC = /^(\d{4})[-/](\d\d)[-/](\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?Z?)?$/;
const NAMED = /^([A-Z][a-z]{2}) (\d{1,2}) (\d{4})$/;
const YEAR = /^\d{4}$/;

/** `2012-01-31`, `2001/01/01 06:55`, `2000-01-01T08:00:00.000Z`, `Jan 1 2000`, `1880`; null for anything else. */
export function parseDate(text: string): bigint | null {
  const numeric = NUMERIC.exec(text);
  if (numeric !== null) {
    const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = ""] = numeric;
    const atSecond = utc(Number(year), Number(month), Number(day), Number(hour), Number(minute), Number(second));
    return atSecond === null ? null : atSecond + BigInt(fraction.padEnd(9, "0"));
  }
  const named = NAMED.exec(text);
  if (named !== null) return utc(Number(named[3]), MONTHS.indexOf(named[1]!) + 1, Number(named[2]));
  return YEAR.test(text) ? utc(Number(text), 1, 1) : null;
}

/** Null for an invalid date or time. */
function utc(year: number, month: number, day: number, hour = 0, minute = 0, second = 0): bigint | null {
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const kept = date.getUTCMonth() === month - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
  return kept ? BigInt(date.getTime()) * 1_000_000n : null;
}
