// Configurations of Telegraf, the agent that collects metrics: it reads its own from here by URL.
import { TsdbError } from "../../../model/errors.ts";
import type { RecordTypes } from "../../store/kinds.ts";
import type { Change, Metadata } from "../../store/metadata.ts";
import type { Labels } from "../labels.ts";
import type { Members } from "../members.ts";

export type Telegraf = RecordTypes["telegraf"] & { readonly id: string };
export type NewTelegraf = Omit<Telegraf, "id">;

type TelegrafRow = Omit<Telegraf, "metadata"> & { readonly metadata: string };

const COLUMNS = "id, orgID, name, description, config, metadata";

/** Creates, finds, changes and deletes configurations of agents. */
export class Telegrafs {
  constructor(
    private readonly metadata: Metadata,
    private readonly parts: { readonly labels: Labels; readonly members: Members },
  ) {}

  get count(): number {
    return this.metadata.view.count("from telegrafs");
  }

  find(id: string): Telegraf | null {
    const row = this.metadata.view.get<TelegrafRow>(`select ${COLUMNS} from telegrafs where id = ?`, id);
    return row === null ? null : telegrafOf(row);
  }

  /** @throws TsdbError not_found */
  get(id: string): Telegraf {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", "telegraf configuration not found");
    return found;
  }

  /** In order of creation. */
  heads(orgID: string | null): Pick<Telegraf, "id" | "orgID">[] {
    return this.metadata.view.all("select id, orgID from telegrafs where (?1 is null or orgID = ?1) order by id", orgID);
  }

  /** @throws TsdbError not_found for an unknown organization */
  create(telegraf: NewTelegraf): Promise<Telegraf> {
    return this.metadata.change((change) => this.planCreate(change, telegraf));
  }

  planCreate(change: Change, telegraf: NewTelegraf): Telegraf {
    if (this.metadata.view.get("select id from organizations where id = ?", telegraf.orgID) === null) {
      throw new TsdbError("not_found", "organization not found");
    }
    const id = change.newId();
    change.put("telegraf", id, telegraf);
    return { id, ...telegraf };
  }

  /** @throws TsdbError not_found */
  update(id: string, changes: Omit<NewTelegraf, "orgID">): Promise<Telegraf> {
    return this.metadata.change((change) => this.planUpdate(change, id, changes));
  }

  planUpdate(change: Change, id: string, changes: Omit<NewTelegraf, "orgID">): Telegraf {
    const { orgID } = this.get(id);
    change.put("telegraf", id, { orgID, ...changes });
    return { id, orgID, ...changes };
  }

  /** With its labels, members and owners. @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      this.planDelete(change, id);
    });
  }

  planDelete(change: Change, id: string): void {
    this.parts.labels.planRemoveAll(change, "telegrafs", id);
    this.parts.members.planRemoveAll(change, "telegrafs", id);
    change.remove("telegraf", id);
  }
}

function telegrafOf({ metadata, ...row }: TelegrafRow): Telegraf {
  return { ...row, metadata: JSON.parse(metadata) as Telegraf["metadata"] };
}
