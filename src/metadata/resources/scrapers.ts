// Scraper targets: servers whose metrics are read into a bucket. What a target names may not be there: then nothing is read.
import { TsdbError } from "../../model/errors.ts";
import type { RecordTypes } from "../store/kinds.ts";
import type { Change, Metadata } from "../store/metadata.ts";
import type { Labels } from "./labels.ts";
import type { Members } from "./members.ts";

export type Scraper = RecordTypes["scraper"] & { readonly id: string };
type ScraperRow = Omit<Scraper, "allowInsecure"> & { readonly allowInsecure: number };

const COLUMNS = "id, orgID, bucketID, name, type, url, allowInsecure";

/** Creates, finds, changes and deletes scraper targets. */
export class Scrapers {
  constructor(
    private readonly metadata: Metadata,
    private readonly parts: { readonly labels: Labels; readonly members: Members },
  ) {}

  get count(): number {
    return this.metadata.view.count("from scrapers");
  }

  /** Grows with every change of any record. */
  get version(): number {
    return this.metadata.version;
  }

  /** @throws TsdbError not_found */
  get(id: string): Scraper {
    const row = this.metadata.view.get<ScraperRow>(`select ${COLUMNS} from scrapers where id = ?`, id);
    if (row === null) throw new TsdbError("not_found", "scraper target is not found");
    return scraperOf(row);
  }

  /** In order of creation. */
  list({ orgID, name }: { readonly orgID?: string | undefined; readonly name?: string | undefined } = {}): Scraper[] {
    const sql = `select ${COLUMNS} from scrapers where (?1 is null or orgID = ?1) and (?2 is null or name = ?2) order by id`;
    return this.metadata.view.all<ScraperRow>(sql, orgID ?? null, name ?? null).map(scraperOf);
  }

  create(scraper: RecordTypes["scraper"]): Promise<Scraper> {
    return this.metadata.change((change) => {
      const id = change.newId();
      change.put("scraper", id, scraper);
      return { id, ...scraper };
    });
  }

  /** Replaces it as a whole. @throws TsdbError not_found */
  replace({ id, ...scraper }: Scraper): Promise<Scraper> {
    return this.metadata.change((change) => {
      this.get(id);
      change.put("scraper", id, scraper);
      return { id, ...scraper };
    });
  }

  /** With its labels, members and owners. @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      this.planDelete(change, id);
    });
  }

  planDelete(change: Change, id: string): void {
    this.parts.labels.planRemoveAll(change, "scrapers", id);
    this.parts.members.planRemoveAll(change, "scrapers", id);
    change.remove("scraper", id);
  }
}

function scraperOf({ allowInsecure, ...row }: ScraperRow): Scraper {
  return { ...row, allowInsecure: allowInsecure !== 0 };
}
