// A server of the extended edition that holds one day of rows shaped like TSBS, compacted.
import { TestServer } from "../../test/support/servers/server.ts";
import { compacted, EAGER_COMPACTION } from "./compaction.ts";
import { Loader } from "./loader.ts";
import { checkOurRows, withOutput, writeUrlOf } from "./ours.ts";

const HOSTS = 1000;
/** 10,000 times are less than a day. */
const STEP_NS = 8_000_000_000n;
const FLAGS = ["--use-pacha-tree"];

/** Calls `use` with the server, and ends it. @param passes how often the loader's lines are sent, with later times */
export async function withOneDay<T>(rows: number, passes: number, use: (server: TestServer) => Promise<T>): Promise<T> {
  const loader = await Loader.create({ hosts: HOSTS, rows: rows / passes, seed: 1, stepNs: STEP_NS });
  const server = await TestServer.start({ flags: FLAGS });
  try {
    await loader.run(writeUrlOf(server), { passes, goOnInTime: true });
    await checkOurRows(server, rows);
    await server.restart([...FLAGS, ...EAGER_COMPACTION]);
    await compacted(server);
    return await use(server);
  } catch (error) {
    throw withOutput(error, server);
  } finally {
    loader.close();
    await server.dispose();
  }
}
