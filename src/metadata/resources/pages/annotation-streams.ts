// Streams of annotations: what annotations of one kind have in common.
import { TsdbError } from "../../../model/errors.ts";
import type { RecordTypes } from "../../store/kinds.ts";
import type { Change, Metadata } from "../../store/metadata.ts";

export type AnnotationStream = RecordTypes["annotation_stream"] & { readonly id: string };

/** Deleted in one step; others have their turn between them. */
const AT_ONCE_MAX = 1000;

/** Creates, finds, changes and deletes streams. */
export class AnnotationStreams {
  constructor(private readonly metadata: Metadata) {}

  find(id: string): AnnotationStream | null {
    return this.metadata.view.get<AnnotationStream>("select * from annotationStreams where id = ?", id);
  }

  findByName(orgID: string, name: string): AnnotationStream | null {
    return this.metadata.view.get<AnnotationStream>("select * from annotationStreams where orgID = ? and name = ?", orgID, name);
  }

  /** @throws TsdbError bad_request, as clients know it */
  get(id: string): AnnotationStream {
    const found = this.find(id);
    if (found === null) throw new TsdbError("bad_request", "stream not found");
    return found;
  }

  /** In order of creation. @param names empty: all */
  list(orgID: string, names: readonly string[] = []): AnnotationStream[] {
    const all = this.metadata.view.all<AnnotationStream>("select * from annotationStreams where orgID = ? order by id", orgID);
    if (names.length === 0) return all;
    const wanted = new Set(names);
    return all.filter(({ name }) => wanted.has(name));
  }

  /** Makes it, or gives the one of the name its description. @throws TsdbError not_found for an unknown organization */
  put({ orgID, name, description }: Pick<AnnotationStream, "orgID" | "name" | "description">): Promise<AnnotationStream> {
    return this.metadata.change((change) => {
      const before = this.findByName(orgID, name);
      if (before === null) return this.planCreate(change, { orgID, name, description });
      return this.planPut(change, { ...before, description, updatedAt: change.now });
    });
  }

  /** @throws TsdbError bad_request for an unknown one, already_exists */
  update(id: string, { name, description }: Pick<AnnotationStream, "name" | "description">): Promise<AnnotationStream> {
    return this.metadata.change((change) => {
      const before = this.get(id);
      const other = this.findByName(before.orgID, name);
      if (other !== null && other.id !== id) throw new TsdbError("already_exists", `stream with name ${name} already exists`);
      return this.planPut(change, { ...before, name, description, updatedAt: change.now });
    });
  }

  /** The stream of the name, which is made if there is none. @throws TsdbError not_found for an unknown organization */
  planFor(change: Change, orgID: string, name: string): AnnotationStream {
    return this.findByName(orgID, name) ?? this.planCreate(change, { orgID, name, description: "" });
  }

  /** With its annotations, those first. An unknown one is deleted already. */
  async delete(id: string): Promise<void> {
    const { view } = this.metadata;
    for (let isOver = false; !isOver; ) {
      await this.metadata.change((change) => {
        const some = view.all<{ id: string }>(`select id from annotations where streamID = ? limit ${AT_ONCE_MAX}`, id);
        for (const annotation of some) change.remove("annotation", annotation.id);
        isOver = some.length < AT_ONCE_MAX;
        if (isOver && this.find(id) !== null) change.remove("annotation_stream", id);
      });
    }
  }

  private planCreate(change: Change, wanted: Pick<AnnotationStream, "orgID" | "name" | "description">): AnnotationStream {
    if (this.metadata.view.get("select id from organizations where id = ?", wanted.orgID) === null) {
      throw new TsdbError("not_found", "organization not found");
    }
    return this.planPut(change, { id: change.newId(), ...wanted, createdAt: change.now, updatedAt: change.now });
  }

  private planPut(change: Change, stream: AnnotationStream): AnnotationStream {
    const { id, ...record } = stream;
    change.put("annotation_stream", id, record);
    return stream;
  }
}
