// The name of a deleted database or table until it is dropped or restored.

/** `<name>-YYYYMMDDTHHMMSS` in UTC, followed by `-<id>` as often as needed to make it unique. */
export function renamedAt(name: string, deletedMs: number, id: number, isTaken: (name: string) => boolean): string {
  const time = new Date(deletedMs).toISOString().slice(0, "YYYY-MM-DDTHH:MM:SS".length).replace(/[-:]/g, "");
  let renamed = `${name}-${time}`;
  while (isTaken(renamed)) renamed += `-${id}`;
  return renamed;
}
