// Files that Bun embeds: the import is the path of the file, also inside the compiled binary.
declare module "*.wasm" {
  const path: string;
  export default path;
}
