// Ends a server started by a script of package.json when the script's runner ends, even if that was killed by a signal that no process can
// forward. src/tools/launch.mjs passes the runner's process id; it has ended when it is no longer this process's parent.

const VARIABLE = "TSDB_PARENT";
const CHECK_MS = 100;

/** Calls `onGone` once when the process named in `environment` has ended, and removes it from there; no effect if none is named. */
export function watchParent(environment: NodeJS.ProcessEnv, onGone: () => void): void {
  const parent = Number(environment[VARIABLE]);
  // must not be inherited by child processes, such as pagers
  delete environment[VARIABLE];
  if (!(parent > 0)) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    onGone();
  }, CHECK_MS);
  timer.unref();
}
