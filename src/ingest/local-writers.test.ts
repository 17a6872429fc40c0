// Writers of databases that are named, and of databases that are given by their ids.
import { expect, test } from "bun:test";
import { FaultyDisk } from "../../test/support/storage/faulty-disk.ts";
import { WritePath } from "../../test/support/storage/write-path.ts";

test("a name is never another database's id, nor its dialect", async () => {
  const path = await WritePath.open(new FaultyDisk());
  await path.write("t v=1 1");
  const { id: databaseId } = path.catalog.findDatabase("db")!;
  await path.write("t v=2 2", { databaseId });
  await path.write("t v=3 3", { database: `#${databaseId}` });
  await path.write("t v=4 4", { dialect: "v2" });
  await path.write("t v=5 5", { database: "db#v2" });
  const times = async (database: string) => (await path.rows("t", { database })).map(({ timeNs }) => timeNs);
  expect(await times("db")).toEqual([1n, 2n, 4n]);
  expect(await times(`#${databaseId}`)).toEqual([3n]);
  expect(await times("db#v2")).toEqual([5n]);
  await path.close();
});
