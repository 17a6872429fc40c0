// The kinds of resources in templates, and the categories that group them in stacks, differences and summaries.
import type { ResourceType } from "../metadata/store/kinds.ts";

/** In the order of creation: resources that others refer to come first. */
export const CATEGORIES = [
  "Label",
  "Bucket",
  "Check",
  "NotificationEndpoint",
  "NotificationRule",
  "Task",
  "Variable",
  "Dashboard",
  "Telegraf",
] as const;
export type Category = (typeof CATEGORIES)[number];

const CATEGORY_OF_KIND = {
  Bucket: "Bucket",
  CheckDeadman: "Check",
  CheckThreshold: "Check",
  Dashboard: "Dashboard",
  Label: "Label",
  NotificationEndpointHTTP: "NotificationEndpoint",
  NotificationEndpointPagerDuty: "NotificationEndpoint",
  NotificationEndpointSlack: "NotificationEndpoint",
  NotificationRule: "NotificationRule",
  Task: "Task",
  Telegraf: "Telegraf",
  Variable: "Variable",
} as const satisfies Readonly<Record<string, Category>>;
export type TemplateKind = keyof typeof CATEGORY_OF_KIND;

const TYPES: { readonly [C in Category]: ResourceType } = {
  Bucket: "buckets",
  Check: "checks",
  Dashboard: "dashboards",
  Label: "labels",
  NotificationEndpoint: "notificationEndpoints",
  NotificationRule: "notificationRules",
  Task: "tasks",
  Telegraf: "telegrafs",
  Variable: "variables",
};

/** Whether the text names a kind. */
export function isKind(kind: string): kind is TemplateKind {
  return Object.hasOwn(CATEGORY_OF_KIND, kind);
}

/** Whether the text names a kind or a category, as filters may. */
export function isKindOrCategory(kind: string): boolean {
  return isKind(kind) || isCategory(kind);
}

/** Whether the text names a category. */
export function isCategory(kind: string): kind is Category {
  return (CATEGORIES as readonly string[]).includes(kind);
}

/** The category of a kind. */
export function categoryOf(kind: TemplateKind): Category {
  return CATEGORY_OF_KIND[kind];
}

/** The resource type in permissions and labels. */
export function typeOf(category: Category): ResourceType {
  return TYPES[category];
}
