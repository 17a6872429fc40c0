// The v1 API's CSV: per statement with rows a header line and the rows, each prefixed by name and tags of its series; an empty line between
// statements, and before a series with other columns.
import type { ResultBatch } from "../../model/query/result-batch.ts";
import type { RowTextMaker } from "../../model/query/row-text.ts";
import type { SeriesHead } from "../../model/query/series-piece.ts";
import { V1_CONTENT_TYPES, type V1Answer } from "../../model/query/v1-answer.ts";
import { ByteWriter } from "../byte-writer.ts";
import type { V1Encoder } from "./row-limit.ts";
import { V1Rows } from "./rows.ts";
import { v1CsvText } from "./text.ts";

/** Bytes collected before they are returned. */
const PART_BYTES = 64 << 10;

/** The CSV encoder of one statement. */
export class V1CsvEncoder implements V1Encoder {
  readonly contentType = V1_CONTENT_TYPES.csv;
  private readonly out = new ByteWriter();
  private readonly text: V1Rows;
  private head: SeriesHead | null = null;

  constructor(
    private readonly answer: Pick<V1Answer, "epochNs" | "isFirst">,
    kernel?: RowTextMaker,
  ) {
    const texts = { rowStart: "", rowEnd: "\n", separator: "," };
    this.text = new V1Rows(this.out, { isCsv: true, epochNs: answer.epochNs, ...texts }, kernel);
  }

  begin(head: SeriesHead): null {
    this.writeHeader(head);
    this.head = head;
    this.text.begin(head.fields, `${v1CsvText(head.name)},${v1CsvText(tagsText(head))},`);
    return null;
  }

  rows(batch: ResultBatch): Uint8Array | null {
    this.text.write(batch, 0, batch.rowCount);
    return this.out.length >= PART_BYTES ? this.out.take() : null;
  }

  end(): Uint8Array | null {
    return this.out.takeIfAny();
  }

  private writeHeader({ fields }: SeriesHead): void {
    const { head: before, out } = this;
    if (before !== null && sameNames(before, fields)) return;
    if (before !== null || !this.answer.isFirst) out.ascii("\n");
    out.utf8(`name,tags,${fields.map(({ name }) => v1CsvText(name)).join(",")}\n`);
  }
}

/** The answer to a rejected request. */
export function v1CsvRefusal(message: string): string {
  return `error\n${v1CsvText(message)}\n`;
}

function sameNames({ fields }: SeriesHead, others: SeriesHead["fields"]): boolean {
  return fields.length === others.length && fields.every(({ name }, i) => name === others[i]!.name);
}

/** As in a series key: `k=v,k2=v2`, without missing tags. */
function tagsText({ tags }: SeriesHead): string {
  const present = (tags ?? []).filter(([, value]) => value !== "");
  return present.map((pair) => pair.map((text) => text.replace(/[,= ]/g, "\\$&")).join("=")).join(",");
}
