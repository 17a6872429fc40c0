// Files embedded by Bun: the import is the file's path, also inside the compiled binary.
declare module "*.wasm" {
  const path: string;
  export default path;
}

// Python that runs beside the server: the import is the text.
declare module "*.py" {
  const text: string;
  export default text;
}

// Parts of prom-client, which has types for all of it only.
declare module "prom-client/lib/counter.js" {
  export { Counter as default } from "prom-client";
}
declare module "prom-client/lib/gauge.js" {
  export { Gauge as default } from "prom-client";
}
declare module "prom-client/lib/registry.js" {
  export { Registry as default } from "prom-client";
}
