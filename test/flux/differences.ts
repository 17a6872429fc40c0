// Recorded scripts that ours answers otherwise, by intent. A script that does not differ fails the test.

export type Difference = readonly [id: string, reason: string];

const EMPTY_TEXT = "an empty string is left out there, and the strings of later rows move up";
const OTHER_ROWS = "a string of another row stands where there is null";
const ROW_FUNCTION = "functions within the function of `map` work here";

/** At most 40. */
export const DIFFERENCES: readonly Difference[] = [
  ["conversions/string-of-every-field-type", EMPTY_TEXT],
  ["from-range/all-types", EMPTY_TEXT],
  ["functions/map-with-constant-function", "rows stay when a function makes them all alike"],
  ["group/group-on-nan-key", "rows whose key is NaN are one table"],
  ["imports/package-members-private", "names with an underscore are of our own library"],
  ["internal/gen-tables", "random tables: another generator"],
  ["json-csv/sample-list", "descriptions in our own words"],
  ["logic/null-member-as-key-drop", "rows with other values in a key column go to tables of their own"],
  ["map/function-result", "the message says which property is a function"],
  ["map/nested-function-in-map", ROW_FUNCTION],
  ["mix/136", OTHER_ROWS],
  ["mix/272", OTHER_ROWS],
  ["pivot/mixed-field-types", EMPTY_TEXT],
  ["timezone/historic-offset", "another edition of the time zone database: Amsterdam before 1940"],
];
