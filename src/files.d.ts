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
