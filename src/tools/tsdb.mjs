// The program, as `npm run server` and `npm run tsdb` start it: in the folder where the user stands, and no longer than npm runs.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { isScript, launch } from "./launch.mjs";

// npm runs scripts in the package's folder, and says here where it was called
if (isScript(process.env) && process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
launch([join(dirname(fileURLToPath(import.meta.url)), "../main.ts"), ...process.argv.slice(2)], { bound: true });
