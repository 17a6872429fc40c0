// Lists the descendants of a process as reported by the system.
import { readdirSync, readFileSync } from "node:fs";

export interface ListedProcess {
  readonly pid: number;
  readonly parent: number;
  /** The program with its arguments. */
  readonly command: string;
}

/** The descendants of `pid`, parents before their children. */
export function descendantsOf(pid: number): ListedProcess[] {
  const all = existsProc() ? fromProc() : fromPs();
  const found: ListedProcess[] = [];
  for (let parents = [pid]; parents.length > 0; ) {
    const children = all.filter(({ parent }) => parents.includes(parent));
    found.push(...children);
    parents = children.map((child) => child.pid);
  }
  return found;
}

/** False for a process that has ended but has not been reaped by its parent. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !existsProc() || !/\) [ZX] [^)]*$/.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

function existsProc(): boolean {
  return process.platform === "linux";
}

function fromProc(): ListedProcess[] {
  return readdirSync("/proc").flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const [, parent] = /\) \S (\d+) [^)]*$/.exec(readFileSync(`/proc/${name}/stat`, "latin1"))!;
      return [
        { pid: Number(name), parent: Number(parent), command: readFileSync(`/proc/${name}/cmdline`, "latin1").replaceAll("\0", " ") },
      ];
    } catch {
      return []; // it ended meanwhile
    }
  });
}

function fromPs(): ListedProcess[] {
  const lines = Bun.spawnSync(["ps", "-A", "-o", "pid=,ppid=,command="]).stdout.toString().split("\n");
  return lines.flatMap((line) => {
    const found = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line);
    return found === null ? [] : [{ pid: Number(found[1]), parent: Number(found[2]), command: found[3]! }];
  });
}
