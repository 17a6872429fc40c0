// What applying and exporting templates need of a category of resources. Everything that an adapter makes or deletes belongs to one change.
import type { Change } from "../../../../metadata/store/metadata.ts";
import type { Category, TemplateKind } from "../../../../templates/kinds.ts";
import type { Resource, Spec } from "../../../../templates/template.ts";

/** Where a resource goes, and what it may refer to. */
export interface Place {
  readonly orgID: string;
  /** With whose rights scripts run. */
  readonly ownerID: string;
  /** Of what the change makes before: buckets count after it alone. */
  readonly madeBefore: number;
  /** Of another resource of the template. Null: it is not made yet. */
  readonly idOf: (category: Category, metaName: string) => string | null;
  readonly resourceOf: (category: Category, metaName: string) => Resource | undefined;
  readonly after: AfterChange;
}

/** A resource in an answer. */
export interface ShownPlace extends Pick<Place, "orgID" | "idOf" | "resourceOf"> {
  /** Null: it does not exist yet. */
  readonly id: string | null;
  /** It is the stack's, or was made just now: it is shown with its id. */
  readonly isOwn: boolean;
  readonly isApplied: boolean;
}

/** What is to be done when the change is durable. */
export interface AfterChange {
  /** Databases to be dropped. */
  readonly dropped: number[];
  readonly steps: (() => Promise<void>)[];
}

export interface Exported {
  readonly kind: TemplateKind;
  /** Default: the first. */
  readonly apiVersion?: string;
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface Adapter<S extends Spec = Spec> {
  /** Of those whose names are unique. */
  readonly find: (orgID: string, name: string) => string | null;
  /** Null: it is gone. */
  readonly orgOf: (id: string) => string | null;
  /** What a template may be made of, in order of creation. */
  readonly list: (orgID: string) => string[];
  /** Does what takes long, before the change. Errors are left to the change. @param id null: it will be created */
  readonly prepare?: (resource: Resource<S>, id: string | null) => void;
  /** Its id. @throws TsdbError what making it alone throws */
  readonly create: (change: Change, resource: Resource<S>, place: Place) => string;
  readonly update: (change: Change, resource: Resource<S>, place: Place, id: string) => void;
  /** It cannot be removed, and outlives its stack. */
  readonly stays?: (id: string) => boolean;
  readonly remove: (change: Change, id: string, after: AfterChange) => void;
  /** As it is now. */
  readonly old: (id: string) => object;
  readonly kindOf: (id: string) => TemplateKind;
  /** As it becomes. */
  readonly shown: (resource: Resource<S>, place: ShownPlace) => object;
  readonly summary: (resource: Resource<S>, place: ShownPlace) => object;
  /** What is exported with it. */
  readonly refersTo?: (id: string) => { readonly category: Category; readonly id: string };
  readonly exported: (id: string, nameOf: (category: Category, id: string) => string) => Exported;
}

/** Ids in templates' answers are numbers, of up to 64 bits; 0: none. */
export function idNumber(id: string | null): unknown {
  return id === null ? 0 : (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(BigInt(`0x${id}`).toString());
}

/** Times of what is not kept yet. */
export const NO_TIMES = { createdAt: "0001-01-01T00:00:00Z", updatedAt: "0001-01-01T00:00:00Z" };

/** A description that is not empty. */
export function described(description: string): { readonly description?: string } {
  return description === "" ? {} : { description };
}
