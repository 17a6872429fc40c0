// The write path.
import { ingestSuite } from "../../test/conformance/ingest.ts";
import { WritePath } from "../../test/support/storage/write-path.ts";

ingestSuite("on a faulty disk", (disk) => WritePath.open(disk));
