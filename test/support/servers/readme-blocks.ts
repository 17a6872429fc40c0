// Extracts the code blocks of README.md and of the pages in docs/, with the comment before each that controls its execution:
// `<!-- run: … -->`.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Block {
  /** `README.md`, `docs/sql.md`. */
  readonly page: string;
  /** Line number in the page, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** `server`: runs in the background until it is stopped. `fails`: must fail. `if`: only with this program. `no`: never, with the
   *  reason. */
  readonly run: "yes" | "server" | "fails" | { readonly if: string } | { readonly no: string };
}

const MARK = /^<!-- run: (server|fails|if (?<program>[\w-]+)|no: (?<reason>.+)) -->$/;
const SHELLS = ["sh", "bash"];
const ROOT = join(import.meta.dir, "../../..");

/** README.md, then the pages of docs/ in the order in which it links them. */
export function readmePages(): string[] {
  const links = readFileSync(join(ROOT, "README.md"), "utf8").matchAll(/\]\((docs\/[\w-]+\.md)/g);
  return [...new Set(["README.md", ...[...links].map(([, page]) => page!)])];
}

/** The code blocks of all pages, in order. */
export function readmeBlocks(): Block[] {
  return readmePages().flatMap(blocksOf);
}

function blocksOf(page: string): Block[] {
  const lines = readFileSync(join(ROOT, page), "utf8").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w+)$/.exec(lines[at]!)?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf("```", at);
    blocks.push({ page, line: at + 1, language, text: lines.slice(at + 1, end).join("\n"), run: markOf(page, lines[at - 1]!) });
    at = end;
  }
  return blocks;
}

/** @throws Error for an unknown mark */
function markOf(page: string, line: string): Block["run"] {
  if (!line.startsWith("<!-- run")) return "yes";
  const found = MARK.exec(line);
  if (found === null) throw new Error(`${page}: unknown mark ${line}`);
  const { program, reason } = found.groups!;
  if (program !== undefined) return { if: program };
  return reason !== undefined ? { no: reason } : (found[1] as "server" | "fails");
}

export const isShell = ({ language }: Block) => SHELLS.includes(language);
