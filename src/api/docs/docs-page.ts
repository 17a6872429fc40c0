// The documentation as one HTML page without scripts or external assets, so that it works behind any firewall.
import type { Content, OpenApi, Operation, Parameter } from "./openapi.ts";

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, currentColor 18%, transparent); --soft: color-mix(in srgb, currentColor 7%, transparent); }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 62rem; padding: 2rem 1rem 6rem; }
h1 { margin-bottom: 0; } h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; padding-bottom: .3rem; }
nav ul { columns: 2; list-style: none; padding: 0; } nav a { text-decoration: none; }
section { margin: 2.5rem 0; } h3 { font-size: 1.1rem; } h4 { margin: 1.2rem 0 .3rem; font-size: .95rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; } pre { background: var(--soft); border-radius: 6px; overflow-x: auto; padding: .8rem 1rem; }
.method { border-radius: 4px; color: white; display: inline-block; font: 600 .75rem ui-monospace, monospace; margin-right: .5rem; padding: .15rem .5rem; }
.get { background: #1f6feb; } .post { background: #1a7f37; } .put { background: #9a6700; } .delete { background: #cf222e; } .patch { background: #8250df; }
table { border-collapse: collapse; width: 100%; } th, td { border-bottom: 1px solid var(--line); padding: .35rem .6rem .35rem 0; text-align: left; vertical-align: top; }
th { font-size: .8rem; font-weight: 600; } .required { color: #cf222e; font-size: .8rem; } details { margin: .2rem 0; } summary { cursor: pointer; }`;

export interface DocsPage {
  /** Of the server, in examples. */
  readonly address: string;
  /** Path of the document. */
  readonly source: string;
  /** In examples; undefined: none. */
  readonly header?: string;
}

/** Renders the OpenAPI document as HTML. */
export function renderDocs(document: OpenApi, page: DocsPage): string {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? "Other"))];
  const groups = tags.map((tag) => {
    const own = operations.filter(({ operation }) => (operation.tags[0] ?? "Other") === tag);
    return { tag, own };
  });
  const index = groups
    .map(({ own }) =>
      own
        .map(({ method, path }) => `<li><a href="#${anchor(method, path)}">${badge(method)}<code>${escapeHtml(path)}</code></a></li>`)
        .join(""),
    )
    .join("");
  const body = groups
    .map(
      ({ tag, own }) =>
        `<h2>${escapeHtml(tag)}</h2>${own.map(({ method, path, operation }) => section(method, path, operation, page)).join("")}`,
    )
    .join("");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(document.info.title)}</title><style>${STYLE}</style></head>
<body><h1>${escapeHtml(document.info.title)}</h1>
<p>Version ${escapeHtml(document.info.version)}. ${escapeHtml(document.info.description)} The same as <a href="${escapeHtml(page.source)}">OpenAPI</a>.</p>
<nav><ul>${index}</ul></nav>
${body}${schemasOf(document)}
</body></html>
`;
}

function schemasOf({ components }: OpenApi): string {
  if (components === undefined) return "";
  const shown = Object.entries(components.schemas).map(
    ([name, schema]) => `<section id="schema-${escapeHtml(name)}"><h3>${escapeHtml(name)}</h3>${schemaText(schema)}</section>`,
  );
  return `<h2>Schemas</h2>${shown.join("")}`;
}

/** References lead to the schema that they name. */
function schemaText(schema: Readonly<Record<string, unknown>>): string {
  const text = escapeHtml(JSON.stringify(schema, null, 2));
  return `<pre>${text.replaceAll(/#\/components\/schemas\/(\w+)/g, '<a href="#schema-$1">$1</a>')}</pre>`;
}

function section(method: string, path: string, operation: Operation, page: DocsPage): string {
  const description = operation.description === undefined ? "" : `<p>${escapeHtml(operation.description)}</p>`;
  return `<section id="${anchor(method, path)}"><h3>${badge(method)}<code>${escapeHtml(path)}</code></h3>
<p><strong>${escapeHtml(operation.summary)}.</strong></p>${description}
<pre>${escapeHtml(curl(method, path, operation, page))}</pre>
${parameterTable(
  "Query parameters",
  operation.parameters.filter((each) => each.in === "query"),
)}
${parameterTable(
  "Headers",
  operation.parameters.filter((each) => each.in === "header"),
)}
${operation.requestBody === undefined ? "" : `<h4>Body</h4>${contents(operation.requestBody.content)}`}
<h4>Answers</h4><table><tbody>${Object.entries(operation.responses)
    .map(
      ([status, answer]) =>
        `<tr><td><code>${status}</code></td><td>${escapeHtml(answer.description)}${contents(answer.content ?? {})}</td></tr>`,
    )
    .join("")}</tbody></table></section>`;
}

function parameterTable(title: string, parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return "";
  const rows = parameters.map(({ name, required, description, schema }) => {
    const values = Array.isArray(schema["enum"])
      ? (schema["enum"] as string[]).map((value) => `<code>${escapeHtml(value)}</code>`).join(" ")
      : escapeHtml(String(schema["type"]));
    const absent = schema["default"] === undefined ? "" : ` Default <code>${escapeHtml(String(schema["default"]))}</code>.`;
    return `<tr><td><code>${escapeHtml(name)}</code>${required ? ' <span class="required">required</span>' : ""}</td><td>${values}</td><td>${escapeHtml(description ?? "")}${absent}</td></tr>`;
  });
  return `<h4>${title}</h4><table><thead><tr><th>Name</th><th>Values</th><th></th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}

function contents(byType: Readonly<Record<string, Content>>): string {
  return Object.entries(byType)
    .map(([type, { schema }]) => `<details><summary><code>${escapeHtml(type)}</code></summary>${schemaText(schema)}</details>`)
    .join("");
}

/** An example request with the required parameters. */
function curl(method: string, path: string, operation: Operation, { address, header }: DocsPage): string {
  const required = operation.parameters
    .filter((each) => each.required && each.in === "query")
    .map(({ name }) => `${name}=${name.toUpperCase()}`);
  const url = `${address}${path}`;
  const takesHeader = header !== undefined && operation.security?.some((each) => "token" in each);
  const credentials = !takesHeader ? "" : ` \\\n  --header '${header}'`;
  if (method === "get") {
    const parameters = required.map((each) => ` \\\n  --data-urlencode '${each}'`).join("");
    return `curl ${required.length > 0 ? "--get " : ""}'${url}'${credentials}${parameters}`;
  }
  const search = required.length > 0 ? `?${required.join("&")}` : "";
  const type = Object.keys(operation.requestBody?.content ?? {})[0];
  const data =
    type === undefined ? "" : type === "application/json" ? ` \\\n  --json '${exampleOf(operation)}'` : " \\\n  --data-binary @points.lp";
  return `curl${data === "" ? ` -X ${method.toUpperCase()}` : ""} '${url}${search}'${credentials}${data}`;
}

/** The required members of a JSON body, with their names as values. */
function exampleOf(operation: Operation): string {
  const schema = operation.requestBody?.content["application/json"]?.schema ?? {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  return JSON.stringify(Object.fromEntries(required.map((name) => [name, name.toUpperCase()])));
}

function badge(method: string): string {
  return `<span class="method ${method}">${method.toUpperCase()}</span>`;
}

function anchor(method: string, path: string): string {
  return `${method}${path.replaceAll(/[^\w]+/g, "-")}`;
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
