// What a token may be called, made by a request or by a file at the start.

const NAME_BYTES_MAX = 256;
/** Lists of tokens are shown in terminals. */
const CONTROL_CHARACTER = /\p{Cc}/u;

/** Why `name` cannot be a token's name, or null. Whether it is taken, or is the operator's, is for the caller to say. */
export function tokenNameError(name: string): string | null {
  if (name === "") return "a token's name cannot be empty";
  const bytes = Buffer.byteLength(name);
  if (bytes > NAME_BYTES_MAX) return `a token's name is too long: ${bytes} bytes, max ${NAME_BYTES_MAX}`;
  if (CONTROL_CHARACTER.test(name)) return "a token's name cannot have control characters";
  if (!name.isWellFormed()) return "a token's name cannot have half a surrogate pair";
  return null;
}
