// Notebooks: pages that an interface keeps here. What is in one is the interface's own.
import { TsdbError } from "../../../model/errors.ts";
import type { RecordTypes } from "../../store/kinds.ts";
import type { Metadata } from "../../store/metadata.ts";

export type Notebook = RecordTypes["notebook"] & { readonly id: string };
export type NewNotebook = Pick<RecordTypes["notebook"], "orgID" | "name" | "spec">;

/** Creates, finds, changes and deletes notebooks. */
export class Notebooks {
  constructor(private readonly metadata: Metadata) {}

  find(id: string): Notebook | null {
    return this.metadata.view.get<Notebook>("select * from notebooks where id = ?", id);
  }

  /** @throws TsdbError not_found */
  get(id: string): Notebook {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "notebook not found");
    return found;
  }

  /** In order of creation. */
  heads(orgID: string): { readonly id: string }[] {
    return this.metadata.view.all("select id from notebooks where orgID = ? order by id", orgID);
  }

  /** @throws TsdbError not_found for an unknown organization */
  async create(notebook: NewNotebook): Promise<Notebook> {
    const id = await this.metadata.change((change) => {
      if (this.metadata.view.get("select id from organizations where id = ?", notebook.orgID) === null) {
        throw new TsdbError("not_found", "organization not found");
      }
      const made = change.newId();
      change.put("notebook", made, { ...notebook, createdAt: change.now, updatedAt: change.now });
      return made;
    });
    return this.get(id);
  }

  /** It stays in its organization. @throws TsdbError not_found */
  async update(id: string, content: Pick<NewNotebook, "name" | "spec">): Promise<Notebook> {
    await this.metadata.change((change) => {
      const { orgID, createdAt } = this.get(id);
      change.put("notebook", id, { orgID, ...content, createdAt, updatedAt: change.now });
    });
    return this.get(id);
  }

  /** @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      change.remove("notebook", id);
    });
  }
}
