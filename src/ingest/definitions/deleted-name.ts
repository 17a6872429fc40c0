// What a deleted database or table is called until it is dropped or restored.

/** `<name>-YYYYMMDDTHHMMSS` in UTC, with `-<id>` behind it where that is taken, as often as it takes. */
export function renamedAt(name: string, deletedMs: number, id: number, isTaken: (name: string) => boolean): string {
  const time = new Date(deletedMs).toISOString().slice(0, "YYYY-MM-DDTHH:MM:SS".length).replace(/[-:]/g, "");
  let renamed = `${name}-${time}`;
  while (isTaken(renamed)) renamed += `-${id}`;
  return renamed;
}
