// Dashboards and configurations of agents in templates.
import type { V2Line } from "../../../../metadata/line.ts";
import type { NewCell } from "../../../../metadata/resources/pages/dashboards.ts";
import type { Chart } from "../../../../templates/charts/chart-reader.ts";
import { chartsOf } from "../../../../templates/charts/chart-writer.ts";
import type { DashboardSpec, TelegrafSpec } from "../../../../templates/kinds/dashboard.ts";
import type { Resource } from "../../../../templates/template.ts";
import { knownBucketsOf } from "../../pages/telegraf-config.ts";
import { type Adapter, described, idNumber } from "./adapter.ts";

/** Dashboards with their cells; a cell has its view. */
export function dashboardAdapter({ dashboards }: V2Line): Adapter<DashboardSpec> {
  const cells = ({ spec }: Resource<DashboardSpec>): NewCell[] => [...spec.charts];
  return {
    // dashboards of one name are different dashboards
    find: () => null,
    orgOf: (id) => dashboards.summary(id)?.orgID ?? null,
    list: (orgID) => dashboards.heads(orgID).map(({ id }) => id),
    create: (change, resource, { orgID }) => {
      const { name, description } = resource;
      return dashboards.planCreate(change, { orgID, name, description, cells: cells(resource) }).id;
    },
    update: (change, resource, _, id) => {
      const { name, description } = resource;
      dashboards.planUpdate(change, id, { name, description, cells: cells(resource) });
    },
    remove: (change, id) => dashboards.planDelete(change, id),
    old: (id) => {
      const { name, description, cells: places } = dashboards.summary(id)!;
      const charts = places.map(({ x, y, w, h }) => ({ properties: { shape: "empty" }, xPos: x, yPos: y, height: h, width: w }));
      return { name, description, charts };
    },
    kindOf: () => "Dashboard",
    // as recorded, without the places
    shown: ({ name, description, spec }) => ({
      name,
      description,
      charts: spec.charts.map((chart) => shownChart({ ...chart, x: 0, y: 0 })),
    }),
    summary: ({ name, description, spec }, { orgID, id }) => ({
      ...{ id: idNumber(id), orgID: idNumber(orgID), name, description },
      charts: spec.charts.length === 0 ? null : spec.charts.map(shownChart),
    }),
    exported: (id) => {
      const { name, description, cells: kept } = dashboards.get(id);
      return { kind: "Dashboard", spec: { name, ...described(description), charts: chartsOf(kept) } };
    },
  };
}

/** Configurations of agents. */
export function telegrafAdapter({ telegrafs }: V2Line): Adapter<TelegrafSpec> {
  const content = ({ name, description, spec: { config } }: Resource<TelegrafSpec>) => {
    return { name, description, config, metadata: { buckets: knownBucketsOf(config) } };
  };
  const shown = ({ name, description, spec }: Resource<TelegrafSpec>) => ({ name, ...described(description), config: spec.config });
  return {
    // configurations of one name are different ones
    find: () => null,
    orgOf: (id) => telegrafs.find(id)?.orgID ?? null,
    list: (orgID) => telegrafs.heads(orgID).map(({ id }) => id),
    create: (change, resource, { orgID }) => telegrafs.planCreate(change, { orgID, ...content(resource) }).id,
    update: (change, resource, _, id) => void telegrafs.planUpdate(change, id, content(resource)),
    remove: (change, id) => telegrafs.planDelete(change, id),
    old: (id) => {
      const { orgID, name, description, config, metadata } = telegrafs.get(id);
      return { id, orgID, name, ...described(description), config, metadata };
    },
    kindOf: () => "Telegraf",
    shown,
    summary: (resource, { orgID, id }) => ({ telegrafConfig: { ...(id === null ? {} : { id }), orgID, ...shown(resource) } }),
    exported: (id) => {
      const { name, description, config } = telegrafs.get(id);
      return { kind: "Telegraf", spec: { name, ...described(description), config } };
    },
  };
}

function shownChart({ properties, x, y, w, h }: Chart): object {
  return { properties, xPos: x, yPos: y, height: h, width: w };
}
