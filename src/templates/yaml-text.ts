// The objects of a template as YAML that readers of every version take for the same.

/** What YAML 1.1 takes for a number, a time or a value of its own, and YAML 1.2 for text: `1_000`, `0b1`, `1:30`, `2020-01-01`, `=`. */
const OTHER_IN_1_1 = /^(?:[-+]?(?:0b[01_]+|0x[\da-f_]+|[\d._][\d._:]*(?:e[-+]?\d+)?)|\d{4}-\d\d?-\d\d?(?:[t\s][\d\s:.tz+-]*)?|=)$/i;
const NUMBER = /^[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?$/;
/** Indentation and dashes, a key, a value: all that a line has, as texts of several lines are written in one. */
const LINE = /^((?:- | )*)(?:("(?:[^"\\]|\\.)*"|[^"].*?):(?: |$))?(.*)$/;

/** One document. */
export function yamlText(value: unknown): string {
  return `${Bun.YAML.stringify(value, null, 2).split("\n").map(quotedLine).join("\n")}\n`;
}

function quotedLine(line: string): string {
  const [, head = "", key, value = ""] = LINE.exec(line) ?? [];
  const shownKey = key === undefined ? "" : `${quoted(key)}:${value === "" ? "" : " "}`;
  return `${head}${shownKey}${quoted(value)}`;
}

function quoted(scalar: string): string {
  return OTHER_IN_1_1.test(scalar) && !NUMBER.test(scalar) ? `"${scalar}"` : scalar;
}
