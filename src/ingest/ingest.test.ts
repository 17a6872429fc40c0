// The write path, with bodies parsed by the main thread and by ingest workers.
import { ingestSuite } from "../../test/conformance/ingest.ts";
import { LocalLanes } from "../../test/support/local-lanes.ts";
import { WritePath } from "../../test/support/write-path.ts";

ingestSuite("on the main thread", (disk) => WritePath.open(disk));
ingestSuite("by two workers", (disk) => WritePath.open(disk, { lanes: new LocalLanes({ count: 2 }) }));
