// What a deleted database or table is called until it is dropped or restored.

/** `<name>-YYYYMMDDTHHMMSS` in UTC, with `-<id>` behind it where that is taken. */
export function renamedAt(name: string, deletedMs: number, id: number, isTaken: (name: string) => boolean): string {
  const time = new Date(deletedMs).toISOString().slice(0, "YYYY-MM-DDTHH:MM:SS".length).replace(/[-:]/g, "");
  const renamed = `${name}-${time}`;
  return isTaken(renamed) ? `${renamed}-${id}` : renamed;
}
