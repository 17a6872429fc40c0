// Variables of dashboards: lists of texts, maps, or a query whose rows are the values. Interfaces put them into scripts as the record `v`.
import { TsdbError } from "../../../model/errors.ts";
import type { RecordTypes } from "../../store/kinds.ts";
import type { Change, Metadata } from "../../store/metadata.ts";
import type { Labels } from "../labels.ts";

export type Variable = RecordTypes["variable"] & { readonly id: string };
export type VariableArguments = RecordTypes["variable"]["arguments"];
export type NewVariable = Pick<Variable, "orgID" | "name" | "description" | "selected" | "arguments">;
/** What it has of values is JSON text: long ones are shown as they are stored. */
export type VariableText = Omit<Variable, "arguments" | "selected"> & { readonly arguments: string; readonly selected: string | null };

const COLUMNS = "id, orgID, name, description, arguments, selected, createdAt, updatedAt";
const CONFLICT = "variable entity update conflicts with an existing entity";
/** Words of the script language. */
const RESERVED: ReadonlySet<string> = new Set(
  ["and", "import", "not", "return", "option", "test", "empty", "in", "or", "package", "builtin"], // biome-ignore format: one line
);

/** Creates, finds, changes and deletes variables. */
export class Variables {
  constructor(
    private readonly metadata: Metadata,
    private readonly parts: { readonly labels: Labels },
  ) {}

  get count(): number {
    return this.metadata.view.count("from variables");
  }

  findText(id: string): VariableText | null {
    return this.metadata.view.get<VariableText>(`select ${COLUMNS} from variables where id = ?`, id);
  }

  find(id: string): Variable | null {
    const row = this.findText(id);
    return row === null ? null : variableOf(row);
  }

  /** @throws TsdbError not_found */
  get(id: string): Variable {
    const found = this.find(id);
    if (found === null) throw new TsdbError("not_found", `variable not found for key "${id}"`);
    return found;
  }

  /** In order of creation. */
  heads(orgID: string | null): Pick<Variable, "id" | "orgID">[] {
    return this.metadata.view.all("select id, orgID from variables where (?1 is null or orgID = ?1) order by id", orgID);
  }

  /** The id of that of the name, in any case of letters. */
  findByName(orgID: string, name: string): string | null {
    const sql = "select id from variables where orgID = ? and lower(name) = lower(?)";
    return this.metadata.view.get<{ id: string }>(sql, orgID, name.trim())?.id ?? null;
  }

  /** @throws TsdbError not_found for an unknown organization, bad_request, already_exists */
  create(variable: NewVariable): Promise<Variable> {
    return this.metadata.change((change) => this.planCreate(change, variable));
  }

  planCreate(change: Change, variable: NewVariable): Variable {
    checkVariableName(variable.name.trim());
    return this.put(change, { id: change.newId(), ...variable, createdAt: change.now, updatedAt: change.now });
  }

  /** @throws TsdbError not_found, bad_request, already_exists */
  update(id: string, changes: Partial<NewVariable>): Promise<Variable> {
    return this.metadata.change((change) => this.planUpdate(change, id, changes));
  }

  /** Another variable takes the place of that of the id: with the times that it is given. @throws TsdbError not_found, bad_request,
   *  already_exists */
  replace(id: string, variable: NewVariable & Pick<Variable, "createdAt" | "updatedAt">): Promise<Variable> {
    return this.metadata.change((change) => {
      this.get(id);
      return this.put(change, { id, ...variable }, CONFLICT);
    });
  }

  planUpdate(change: Change, id: string, changes: Partial<NewVariable>): Variable {
    const before = this.get(id);
    const name = changes.name?.trim() || before.name;
    return this.put(change, { ...before, ...changes, name, updatedAt: change.now }, CONFLICT);
  }

  /** With its labels. @throws TsdbError not_found */
  delete(id: string): Promise<void> {
    return this.metadata.change((change) => {
      this.get(id);
      this.planDelete(change, id);
    });
  }

  planDelete(change: Change, id: string): void {
    this.parts.labels.planRemoveAll(change, "variables", id);
    change.remove("variable", id);
  }

  private put(change: Change, { id, ...given }: Variable, conflict = "variable is not unique"): Variable {
    const record = { ...given, name: given.name.trim() };
    const { view } = this.metadata;
    if (view.get("select id from organizations where id = ?", record.orgID) === null) {
      throw new TsdbError("not_found", "organization not found");
    }
    const same = "select id from variables where orgID = ? and lower(name) = lower(?) and id <> ?";
    if (view.get(same, record.orgID, record.name, id) !== null) {
      throw new TsdbError("already_exists", `${conflict} for key ${record.orgID}${record.name.toLowerCase()}`);
    }
    change.put("variable", id, record);
    return { id, ...record };
  }
}

/** @throws TsdbError bad_request */
export function checkVariableName(name: string): void {
  if (name === "") throw new TsdbError("bad_request", "missing variable name");
  if (!/^[a-zA-Z_]/.test(name)) throw new TsdbError("bad_request", "variable name must start with a letter");
  if (RESERVED.has(name)) throw new TsdbError("bad_request", `${JSON.stringify(name)} is a protected variable name`);
}

function variableOf({ arguments: given, selected, ...row }: VariableText): Variable {
  return {
    ...row,
    arguments: JSON.parse(given) as VariableArguments,
    selected: selected === null ? null : (JSON.parse(selected) as string[]),
  };
}
