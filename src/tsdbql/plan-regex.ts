// Regular expressions of the language (Go's syntax) as something that tests texts.

export interface TextTest {
  test(text: string): boolean;
}

const FLAGS = /^\(\?([imsU]+)\)/;

/** The source has been checked by the parser. */
export function compileRegex(source: string): TextTest {
  const flags = FLAGS.exec(source);
  const pattern = (flags === null ? source : source.slice(flags[0].length))
    .replaceAll("\\A", "^")
    .replaceAll("\\z", "$")
    .replaceAll("(?P<", "(?<")
    .replaceAll("[[:alpha:]]", "[A-Za-z]")
    .replaceAll("[[:digit:]]", "[0-9]");
  const known = [...(flags?.[1] ?? "")].filter((flag) => "ims".includes(flag)).join("");
  return new RegExp(pattern, known);
}
