// Bun with the given arguments: node src/tools/bun.mjs test …
import { launch } from "./launch.mjs";

launch(process.argv.slice(2));
