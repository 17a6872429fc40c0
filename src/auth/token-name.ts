// The rules for token names, whether from a request or a file.

const NAME_BYTES_MAX = 256;
/** Token lists are displayed in terminals. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/** Why `name` is not a valid token name, or null. The caller checks whether it exists or is reserved. */
export function tokenNameError(name: string): string | null {
  if (name === "") return "a token's name cannot be empty";
  const bytes = Buffer.byteLength(name);
  if (bytes > NAME_BYTES_MAX) return `a token's name is too long: ${bytes} bytes, max ${NAME_BYTES_MAX}`;
  if (CONTROL_CHARACTER.test(name)) return "a token's name cannot have control characters";
  if (!name.isWellFormed()) return "a token's name cannot have half a surrogate pair";
  return null;
}
