// Patterns of Flight SQL's filters: % is any text, _ any one character, \ takes their meaning away. Matched without backtracking over the
// whole text, so that no pattern is slow.

/** Whether a text matches; without a pattern all do. Case matters. */
export function likePattern(pattern: string | undefined): (text: string) => boolean {
  if (pattern === undefined) return () => true;
  const parts = partsOf(pattern);
  return (text) => matches(parts, [...text]);
}

/** A character is itself. */
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

/** Takes as little as possible for each %, and more only for the last one: what was matched before it stays matched. */
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
