// Variables of templates.
import type { V2Line } from "../../../../metadata/line.ts";
import type { VariableArguments } from "../../../../metadata/resources/pages/variables.ts";
import type { VariableSpec } from "../../../../templates/kinds/variable.ts";
import { type Adapter, described, idNumber } from "./adapter.ts";

/** Variables, which are found by name in any case of letters. */
export function variableAdapter({ variables }: V2Line): Adapter<VariableSpec> {
  const shown = (name: string, description: string, args: VariableArguments) => ({ name, description, args });
  const given = (spec: VariableSpec) => ({ arguments: spec.arguments, selected: spec.selected });
  return {
    find: (orgID, name) => variables.findByName(orgID, name),
    orgOf: (id) => variables.find(id)?.orgID ?? null,
    list: (orgID) => variables.heads(orgID).map(({ id }) => id),
    create: (change, { name, description, spec }, { orgID }) =>
      variables.planCreate(change, { orgID, name, description, ...given(spec) }).id,
    // as recorded, it keeps its name: scripts use it
    update: (change, { description, spec }, _, id) => void variables.planUpdate(change, id, { description, ...given(spec) }),
    remove: (change, id) => variables.planDelete(change, id),
    old: (id) => {
      const { name, description, arguments: args } = variables.get(id);
      return shown(name, description, args);
    },
    kindOf: () => "Variable",
    shown: ({ name, description, spec }) => shown(name, description, spec.arguments),
    summary: ({ name, description, spec }, { orgID, id, isApplied }) => ({
      ...(id === null ? {} : { id: idNumber(id), ...(isApplied ? { orgID: idNumber(orgID) } : {}) }),
      ...{ name, description, variables: spec.selected, arguments: spec.arguments },
    }),
    exported: (id) => {
      const { name, description, arguments: args, selected } = variables.get(id);
      const values = args.type === "query" ? args.values : { values: args.values };
      const chosen = selected === null || selected.length === 0 ? {} : { selected };
      return { kind: "Variable", spec: { name, ...described(description), type: args.type, ...values, ...chosen } };
    },
  };
}
