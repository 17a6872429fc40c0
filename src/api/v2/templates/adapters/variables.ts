// Variables of templates.
import type { V2Line } from "../../../../metadata/line.ts";
import type { VariableArguments } from "../../../../metadata/resources/pages/variables.ts";
import { TsdbError } from "../../../../model/errors.ts";
import { type ArgumentsOfTemplate, areComplete, type VariableSpec } from "../../../../templates/kinds/variable.ts";
import { type Adapter, described, idNumber } from "./adapter.ts";

/** Variables, which are found by name in any case of letters. */
export function variableAdapter({ variables }: V2Line): Adapter<VariableSpec> {
  const shown = (name: string, description: string, args: ArgumentsOfTemplate) => ({ name, description, args });
  return {
    find: (orgID, name) => variables.findByName(orgID, name),
    orgOf: (id) => variables.find(id)?.orgID ?? null,
    list: (orgID) => variables.heads(orgID).map(({ id }) => id),
    create: (change, { name, description, spec }, { orgID }) =>
      variables.planCreate(change, { orgID, name, description, arguments: complete(spec.arguments), selected: spec.selected }).id,
    // as recorded, it keeps its name: scripts use it
    update: (change, { description, spec }, _, id) => {
      // it also keeps its arguments where the template has none
      const args = spec.arguments === null ? {} : { arguments: complete(spec.arguments) };
      variables.planUpdate(change, id, { description, selected: spec.selected, ...args });
    },
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

/** @throws TsdbError bad_request */
function complete(args: ArgumentsOfTemplate): VariableArguments {
  if (areComplete(args)) return args;
  throw new TsdbError("bad_request", "invalid arguments type");
}
