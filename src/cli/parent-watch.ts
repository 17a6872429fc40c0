// A server that a script of package.json started ends with it, also when a signal killed the script's runner that no process can pass on.
// src/tools/launch.mjs says which process that is; one that has ended is its child's parent no longer.

const VARIABLE = "TSDB_PARENT";
const CHECK_MS = 100;

/** Calls `onGone` once when the process that `environment` names has ended, and takes it out of there; does nothing when it names none. */
export function watchParent(environment: NodeJS.ProcessEnv, onGone: () => void): void {
  const parent = Number(environment[VARIABLE]);
  // not meant for programs that this one starts, as pagers
  delete environment[VARIABLE];
  if (!(parent > 0)) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, CHECK_MS);
  timer.unref();
}
