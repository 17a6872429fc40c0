// Annotations: what happened in a range of times, in streams, for people who look at graphs.
import { TsdbError } from "../../../model/errors.ts";
import type { RecordTypes } from "../../store/kinds.ts";
import type { Change, Metadata } from "../../store/metadata.ts";
import type { AnnotationStreams } from "./annotation-streams.ts";

type Stickers = RecordTypes["annotation"]["stickers"];
export type Annotation = Omit<RecordTypes["annotation"], "streamID"> & {
  readonly id: string;
  /** The name of its stream. */
  readonly stream: string;
};
export type NewAnnotation = Omit<Annotation, "id" | "orgID">;

/** Those within the range, ends included. */
export interface AnnotationFilter {
  readonly orgID: string;
  readonly startTime: string;
  readonly endTime: string;
  /** Of one of these names; empty: of any. */
  readonly streams: readonly string[];
  /** All of these. */
  readonly stickers: Stickers;
}

type Row = Omit<Annotation, "stickers"> & { readonly stickers: string };

/** Read or deleted in one step; others have their turn between them. */
const AT_ONCE_MAX = 1000;
const WITH_STREAM =
  "select a.id, a.orgID, s.name as stream, summary, message, stickers, startTime, endTime from annotations a join annotationStreams s on s.id = a.streamID";

/** Creates, finds, changes and deletes annotations. */
export class Annotations {
  constructor(
    private readonly metadata: Metadata,
    private readonly streams: AnnotationStreams,
  ) {}

  find(id: string): Annotation | null {
    const row = this.metadata.view.get<Row>(`${WITH_STREAM} where a.id = ?`, id);
    return row === null ? null : { ...row, stickers: JSON.parse(row.stickers) as Stickers };
  }

  /** @throws TsdbError bad_request, as clients know it */
  get(id: string): Annotation {
    const found = this.find(id);
    if (found === null) throw new TsdbError("bad_request", "annotation not found");
    return found;
  }

  /** By the name of the stream, and within one by time. Reads some at a time: what is made or deleted meanwhile may be seen. */
  *ids({ orgID, startTime, endTime, streams, stickers }: AnnotationFilter): Generator<string, void, void> {
    const wanted = Object.entries(stickers);
    const isWanted = (text: string) => {
      if (wanted.length === 0) return true;
      const own = JSON.parse(text) as Stickers;
      return wanted.every(([key, value]) => Object.hasOwn(own, key) && own[key] === value);
    };
    const ordered = this.streams.list(orgID, streams).sort((a, b) => (a.name < b.name ? -1 : 1));
    const sql = `select id, startTime, stickers from annotations
      where streamID = ? and (startTime, id) > (?, ?) and endTime <= ? order by startTime, id limit ${AT_ONCE_MAX}`;
    for (const { id: streamID } of ordered) {
      let last = { startTime, id: "" };
      for (let isOver = false; !isOver; ) {
        const rows = this.metadata.view.all<Pick<Row, "id" | "startTime" | "stickers">>(sql, streamID, last.startTime, last.id, endTime);
        for (const row of rows) if (isWanted(row.stickers)) yield row.id;
        isOver = rows.length < AT_ONCE_MAX;
        last = rows.at(-1) ?? last;
      }
    }
  }

  /** All or none; streams that are not there are made. @throws TsdbError not_found for an unknown organization */
  create(orgID: string, annotations: readonly NewAnnotation[]): Promise<Annotation[]> {
    return this.metadata.change((change) => annotations.map((each) => this.planPut(change, { id: change.newId(), orgID, ...each })));
  }

  /** Replaces it as a whole. @throws TsdbError bad_request for an unknown one */
  update(id: string, annotation: NewAnnotation): Promise<Annotation> {
    return this.metadata.change((change) => this.planPut(change, { id, orgID: this.get(id).orgID, ...annotation }));
  }

  /** @throws TsdbError bad_request for an unknown one */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      change.remove("annotation", id);
    });
  }

  /** In steps. */
  async deleteAll(filter: AnnotationFilter): Promise<void> {
    let some: string[] = [];
    const remove = () =>
      this.metadata.change((change) => {
        for (const id of some) if (this.find(id) !== null) change.remove("annotation", id);
      });
    for (const id of this.ids(filter)) {
      some.push(id);
      if (some.length < AT_ONCE_MAX) continue;
      await remove();
      some = [];
    }
    if (some.length > 0) await remove();
  }

  private planPut(change: Change, annotation: Annotation): Annotation {
    const { id, stream, ...record } = annotation;
    const { id: streamID } = this.streams.planFor(change, record.orgID, stream);
    change.put("annotation", id, { ...record, streamID });
    return annotation;
  }
}
