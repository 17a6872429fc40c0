// Makes contract.json out of the public OpenAPI file of the v2 line, as ../extract.ts does for the files of v3. Run as a program it writes
// the file: `bun test/contract/v2/extract.ts`.
import { join } from "node:path";
import { Extractor, entries, type Node, type OperationForm, sorted, specFolderWith, writeContract } from "../extract.ts";

/** By `METHOD path`, the path as of this server. */
export type V2Contract = Readonly<Record<string, OperationForm>>;

const FILE = "v2-oss.json";
const TARGET = join(import.meta.dir, "contract.json");
const METHODS = new Set(["get", "post", "put", "patch", "delete", "head"]);
/** Syntax trees are hundreds of forms within each other; test/flux compares them with recorded ones. What errors are stands in
 *  differences.ts, and not 350 times here. Recorded answers to templates have numbers for ids, and are compared in test/vectors. */
const OPAQUE = new Set(["File", "Package", "Error", "TemplateSummary"]);

/** Undefined: the file is not on this machine. */
export const v2SpecFolder = specFolderWith([FILE]);

/** Every operation of the file. */
export async function extractV2(folder: string): Promise<V2Contract> {
  const document = (await Bun.file(join(folder, FILE)).json()) as Node;
  const extractor = new Extractor(document, undefined, OPAQUE);
  const contract: Record<string, OperationForm> = {};
  for (const [path, item] of entries(document["paths"])) {
    const [server] = (item["servers"] ?? []) as { readonly url: string }[];
    for (const [method, operation] of entries(item)) {
      if (!METHODS.has(method)) continue;
      const key = `${method.toUpperCase()} ${server?.url ?? ""}${path}`;
      contract[key] = extractor.operation(operation);
    }
  }
  return sorted(contract);
}

if (import.meta.main) {
  if (v2SpecFolder === undefined) throw new Error(`no ${FILE} on this machine`);
  await writeContract(TARGET, await extractV2(v2SpecFolder));
}
