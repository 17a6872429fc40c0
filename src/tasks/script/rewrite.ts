// Changes values in the record of `option task` within its script.
import { commentsOf } from "../../flux/format/comments.ts";
import { formatFile } from "../../flux/format/format.ts";
import type { ObjectExpression, Property } from "../../flux/parse/ast.ts";
import { parseFile } from "../../flux/parse/parser.ts";
import { isZero, parseDuration } from "../../flux/values/duration.ts";
import { TsdbError } from "../../model/errors.ts";
import { propertyOf, readTaskOptions, taskRecord } from "./options.ts";

/** At most one of `every` and `cron`; it replaces the other. Durations are texts such as `-1h30m`; a zero offset is removed. */
export interface TaskOptionChanges {
  readonly name?: string;
  readonly every?: string;
  readonly cron?: string;
  readonly offset?: string;
}

/** Longer scripts keep the form that they have: formatting takes 2 to 5 µs a character, in one step. */
const FORMATTED_LENGTH_MAX = 64 << 10;

interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The script with the changes, formatted unless it is long; without changes it is returned as written. @throws TsdbError bad_request:
 *  the script, or the result, is not that of a task */
export function rewriteTaskOptions(flux: string, changes: TaskOptionChanges): string {
  const { name, every, cron, offset } = changes;
  if (every !== undefined && cron !== undefined) throw new TsdbError("bad_request", "cannot specify both every and cron");
  const record = taskRecord(flux);
  const edits: Edit[] = [];
  const added: string[] = [];
  const set = (key: string, text: string, place: Property | undefined) => {
    if (place === undefined) added.push(`${key}: ${text}`);
    else edits.push({ from: place.location.from, to: place.location.to, text: `${key}: ${text}` });
  };
  const setSchedule = (key: "every" | "cron", text: string) => {
    const same = propertyOf(record, key);
    const other = propertyOf(record, key === "every" ? "cron" : "every");
    // comments on `every` do not apply to `cron`, and vice versa
    if (same === undefined && other !== undefined) edits.push(...withoutComments(flux, record, other));
    set(key, text, same ?? other);
  };
  if (name !== undefined) set("name", literal(name), propertyOf(record, "name"));
  if (every !== undefined) setSchedule("every", durationLiteral(every));
  if (cron !== undefined) setSchedule("cron", literal(cron));
  if (offset !== undefined && isNone(offset)) edits.push(...removal(record.properties, propertyOf(record, "offset")));
  else if (offset !== undefined) set("offset", durationLiteral(offset), propertyOf(record, "offset"));
  if (edits.length + added.length === 0) return flux;

  const last = record.properties.at(-1);
  // after the brace if the record is empty
  const end = last === undefined ? record.location.from + 1 : last.location.to;
  if (added.length > 0) edits.push({ from: end, to: end, text: `${last === undefined ? "" : ", "}${added.join(", ")}` });
  const changed = applied(flux, edits);
  readTaskOptions(changed);
  return changed.length > FORMATTED_LENGTH_MAX ? changed : formatFile(parseFile(changed), changed);
}

/** Removes the comments between the property and the text before it. */
function withoutComments(flux: string, { location, properties }: ObjectExpression, property: Property): Edit[] {
  const from = properties[properties.indexOf(property) - 1]?.location.to ?? location.from + 1;
  return commentsOf(flux.slice(from, property.location.from), []).map((comment) => {
    const start = from + comment.from;
    return { from: start, to: start + comment.text.length, text: "" };
  });
}

/** Includes the preceding comma, or the following one for the first property. */
function removal(properties: readonly Property[], property: Property | undefined): Edit[] {
  if (property === undefined) return [];
  const at = properties.indexOf(property);
  const { from, to } = property.location;
  const [before, after] = [properties[at - 1], properties[at + 1]];
  if (before !== undefined) return [{ from: before.location.to, to, text: "" }];
  return [{ from, to: after?.location.from ?? to, text: "" }];
}

/** Edits at the same position are applied in the given order. */
function applied(text: string, edits: readonly Edit[]): string {
  let made = "";
  let done = 0;
  for (const { from, to, text: replacement } of edits.toSorted((a, b) => a.from - b.from)) {
    made += text.slice(done, from) + replacement;
    done = to;
  }
  return made + text.slice(done);
}

/** Ends of lines and a `${` stay as they are: an expression is no name and no pattern, and is refused when the result is read, as by
 *  release 2.8.0. */
function literal(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

/** True for a zero duration. */
export function isNone(text: string): boolean {
  const duration = parseDuration(text);
  return duration !== null && isZero(duration);
}

/** @throws TsdbError bad_request */
function durationLiteral(text: string): string {
  if (parseDuration(text) === null) throw new TsdbError("bad_request", `invalid duration ${text}`);
  return text;
}
