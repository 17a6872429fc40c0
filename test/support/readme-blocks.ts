// Extracts the code blocks of README.md, with the comment before each that controls its execution: `<!-- run: … -->`.
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Block {
  /** Line number in the file, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  /** `server`: runs in the background until it is stopped. `fails`: must fail. `if`: only with this program. `no`: never, with the
   *  reason. */
  readonly run: "yes" | "server" | "fails" | { readonly if: string } | { readonly no: string };
}

const MARK = /^<!-- run: (server|fails|if (?<program>[\w-]+)|no: (?<reason>.+)) -->$/;
const SHELLS = ["sh", "bash"];

/** The code blocks of the README, in order. */
export function readmeBlocks(): Block[] {
  const lines = readFileSync(join(import.meta.dir, "../../README.md"), "utf8").split("\n");
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; at++) {
    const language = /^```(\w+)$/.exec(lines[at]!)?.[1];
    if (language === undefined) continue;
    const end = lines.indexOf("```", at);
    blocks.push({ line: at + 1, language, text: lines.slice(at + 1, end).join("\n"), run: markOf(lines[at - 1]!) });
    at = end;
  }
  return blocks;
}

/** @throws Error for a mark that there is not */
function markOf(line: string): Block["run"] {
  if (!line.startsWith("<!-- run")) return "yes";
  const found = MARK.exec(line);
  if (found === null) throw new Error(`README.md: unknown mark ${line}`);
  const { program, reason } = found.groups!;
  if (program !== undefined) return { if: program };
  return reason !== undefined ? { no: reason } : (found[1] as "server" | "fails");
}

export const isShell = ({ language }: Block) => SHELLS.includes(language);
