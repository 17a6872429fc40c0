// Patterns of Flight SQL's filters: % matches any text, _ any character, \ escapes them. Matched without full backtracking, so that no
// pattern is slow.

/** Returns a predicate for a pattern; without a pattern everything matches. Case-sensitive. */
export function likePattern(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined) return () => true;
  const parts = partsOf(pattern);
  return (text) => matches(parts, [...text]);
}

/** A literal character, or a wildcard. */
type Part = { readonly is: "any text" | "any character" | "character"; readonly character?: string };

function partsOf(pattern: string): Part[] {
  const parts: Part[] = [];
  const characters = [...pattern];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at]!;
    if (character === "%") parts.push({ is: "any text" });
    else if (character === "_") parts.push({ is: "any character" });
    else if (character === "\\" && at + 1 < characters.length) parts.push({ is: "character", character: characters[++at]! });
    else parts.push({ is: "character", character });
  }
  return parts;
}

/** Matches as little as possible for each % and extends only the last one: what matched before it stays matched. */
function matches(parts: readonly Part[], text: readonly string[]): boolean {
  let [part, at] = [0, 0];
  let retry: { readonly part: number; at: number } | null = null;
  while (at < text.length) {
    const wanted = parts[part];
    if (wanted?.is === "any text") {
      retry = { part: ++part, at };
    } else if (wanted !== undefined && (wanted.is === "any character" || wanted.character === text[at])) {
      part++;
      at++;
    } else if (retry !== null) {
      part = retry.part;
      at = ++retry.at;
    } else return false;
  }
  while (parts[part]?.is === "any text") part++;
  return part === parts.length;
}
