// A watchdog process that kills the process groups of plugins after SIGKILL of the server. Without it, processes that plugins have started
// would continue to run.
import type { Subprocess } from "bun";
import reaper from "../python/reaper.py" with { type: "text" };
import { MARK } from "./marked-processes.ts";

/** Registers process groups with the watchdog process. */
export class GroupReaper {
  private readonly groups = new Set<number>();
  private child: Subprocess<"pipe", "ignore", "inherit"> | null = null;
  private isStopped = false;

  /** `server`: how the marks of its processes begin. */
  constructor(private readonly server: string) {}

  /** `python`: path of the interpreter, for the watchdog itself. */
  add(group: number, python: string): void {
    this.groups.add(group);
    if (process.platform === "win32" || this.isStopped) return;
    if (this.child === null) this.start(python);
    else this.send(`+${group}\n`);
  }

  /** Call it when the group has ended: its id may be reused. */
  remove(group: number): void {
    if (this.groups.delete(group)) this.send(`-${group}\n`);
  }

  /** Ends the watchdog and the remaining groups. */
  async stop(): Promise<void> {
    this.isStopped = true;
    const { child } = this;
    this.child = null;
    child?.stdin.end();
    await child?.exited;
  }

  private start(python: string): void {
    const child = Bun.spawn([python, "-I", "-S", "-u", "-c", reaper, MARK, this.server], {
      ...{ stdin: "pipe", stdout: "ignore", stderr: "inherit", env: {} },
    });
    this.child = child;
    void child.exited.then(() => {
      // the next `add` starts another one with all groups
      if (this.child === child) this.child = null;
    });
    this.send([...this.groups].map((group) => `+${group}\n`).join(""));
  }

  private send(text: string): void {
    if (this.child === null) return;
    this.child.stdin.write(text);
    // a watchdog that has ended is replaced
    void Promise.resolve(this.child.stdin.flush()).catch(() => {});
  }
}
