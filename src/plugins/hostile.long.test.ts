// Plugins that misbehave: each run ends with the expected failure, other triggers are unaffected, and no process is left behind.
import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { PluginBench, type PluginRun, pluginPython } from "../../test/support/plugins/plugins.ts";
import type { PluginCaller, PluginPayload } from "./plugin-call.ts";

const SCHEDULE: PluginPayload = { kind: "schedule", timeMs: 0 };
const scheduled = (body: string) =>
  `import os, sys, time\ndef process_scheduled_call(local, when, args=None):\n${body.replace(/^/gm, "    ")}\n`;

if (pluginPython() !== null) {
  // Runs have no time limit unless a test is about it: on a busy machine it would come before what the test waits for.
  const bench = new PluginBench({ memoryBytesMax: 128 << 20, timeMsMax: 0 });
  afterAll(() => bench.close());
  let plugins = 0;

  function run(body: string, trigger: string, options: { signal?: AbortSignal; onLine?: () => void } = {}): Promise<PluginRun> {
    const caller: PluginCaller = { kind: "trigger", database: "db", trigger, runAsync: false };
    const plugin = bench.plugin(`hostile_${plugins++}.py`, scheduled(body));
    return bench.run(plugin, SCHEDULE, { caller, ...options });
  }

  const isAlive = (pid: number) => {
    // a zombie has no program any more
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "latin1") : "";
    return stat !== "" && !/\) [ZX] /.test(stat);
  };

  describe("one trigger's plugin", () => {
    const HOSTILE: [what: string, body: string, kind: string, message: RegExp][] = [
      ["an endless loop", "while True: pass", "timeout", /^the run took longer than 1\.5 s/],
      [
        "an endless loop that catches everything",
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass",
        "timeout",
        /1\.5 s/,
      ],
      ["an endless loop in C", "sum(iter(int, 1))", "timeout", /1\.5 s/],
      ["a sleep", "time.sleep(60)", "timeout", /1\.5 s/],
      ["much memory", "x = []\nwhile True: x.append(bytearray(1 << 20))", "memory", /MemoryError|128 MiB/],
      ["much memory in one piece", "bytearray(1 << 40)", "memory", /MemoryError/],
      [
        "much shared memory",
        "import mmap\nm = mmap.mmap(-1, 400 << 20)\nm.write(bytes(1) * (300 << 20))\ntime.sleep(60)",
        "memory",
        /128 MiB|MemoryError/,
      ],
      [
        // each is below the limit, also while it has the bytes twice
        "much memory in several processes",
        "for i in range(4):\n    if os.fork() == 0:\n        x = bytearray(b'x' * (40 << 20))\n        time.sleep(60)\ntime.sleep(60)",
        "memory",
        /128 MiB/,
      ],
      ["os._exit", "os._exit(7)", "exit", /^the plugin's process ended with exit code 7 during a run$/],
      ["a signal to itself", "os.kill(os.getpid(), 11)", "exit", /^the plugin's process ended by SIGSEGV during a run$/],
      ["a signal to its group", "os.killpg(os.getpgrp(), 9)", "exit", /SIGKILL/],
      ["sys.exit", "sys.exit(3)", "exception", /^SystemExit: 3$/],
      ["KeyboardInterrupt", "raise KeyboardInterrupt()", "exception", /^KeyboardInterrupt/],
      ["an interrupt of its own", "import _thread\n_thread.interrupt_main()\ntime.sleep(5)", "exception", /^KeyboardInterrupt/],
      ["an exception without text", "class E(Exception):\n    def __str__(self): raise ValueError()\nraise E()", "exception", /E/],
      ["recursion", "def f(): f()\nf()", "exception", /^RecursionError/],
      ["a large exception", "raise ValueError('x' * (5 << 20))", "exception", /^ValueError: x{100}/],
      ["surrogates in an exception", "raise ValueError('\\ud800')", "exception", /^ValueError/],
      [
        "garbage on every descriptor",
        "for fd in range(3, 64):\n    try: os.write(fd, b'garbage' * 10)\n    except OSError: pass\ntime.sleep(60)",
        "garbage",
        /bytes that are no frame/,
      ],
      [
        "an end of its own",
        "for fd in range(3, 64):\n    try: os.write(fd, b'TSP1' + (2**31).to_bytes(4, 'little') * 2)\n    except OSError: pass\ntime.sleep(60)",
        "garbage",
        /a frame of 2147483648/,
      ],
      [
        "an end that is no end",
        `end = b'{"t":"done","failure":null}'
for fd in range(3, 64):
    try: os.write(fd, b'TSP1' + len(end).to_bytes(4, 'little') + bytes(4) + end)
    except OSError: pass
time.sleep(60)`,
        "garbage",
        /an invalid failure/,
      ],
      ["closed descriptors", "os.closerange(0, 256)\ntime.sleep(60)", "exit|timeout|garbage", /./],
    ];

    test.each(HOSTILE)("%s", async (what, body, kind, message) => {
      bench.limits.timeMsMax = kind.includes("timeout") ? 1500 : 0;
      const { outcome } = await run(body, what);
      bench.limits.timeMsMax = 0;
      expect(outcome.failure?.kind).toMatch(new RegExp(`^(${kind})$`));
      expect(outcome.failure?.message).toMatch(message);
      expect(outcome.failure!.message.length).toBeLessThan(5000);
      // the same trigger is well at its next call, and so are others
      expect((await run("local.info('well')", what)).lines).toEqual(["INFO: well"]);
      expect((await run("local.info('well')", "another")).lines).toEqual(["INFO: well"]);
    });

    test("prints garbage on fd 1 and 2, not UTF-8, and returns", async () => {
      bench.printed.length = 0;
      const { outcome } = await run(
        "os.write(1, b'TSP1\\xff\\xfe garbage\\n')\nos.write(2, b'\\x00\\x1b[2J\\n')\nprint('printed')\nsys.stdout.flush()",
        "prints",
      );
      expect(outcome.failure).toBeNull();
      // what it prints comes by another pipe than its result
      while (!bench.printed.includes("printed")) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(bench.printed).toContain("TSP1\ufffd\ufffd garbage");
    });

    test("prints and logs without end: both are cut", async () => {
      const { outcome, lines } = await run(
        "os.write(1, b'x' * (8 << 20))\nfor i in range(30000): local.info(i)\nlocal.info('last')",
        "noisy",
      );
      expect(outcome.failure).toBeNull();
      expect(lines.length).toBe(10_001);
      expect(lines.slice(-2)).toEqual([
        "WARN: the run logs too much: further lines are left out",
        "WARN: 20002 lines of the run were left out",
      ]);
      expect(bench.printed.join("").length).toBeLessThan(2 << 20);
    });

    test("a long log line is cut", async () => {
      const { lines } = await run("local.info('x' * (20 << 20))", "long line");
      expect(lines[0]!.length).toBeLessThan(70_000);
    });

    test("holds back more lines than it may", async () => {
      const { outcome } = await run("for i in range(100): local.write('m v=\"' + 'x' * (1 << 20) + '\"')", "lines");
      expect(outcome.failure).toMatchObject({ kind: "memory" });
    });

    test("deletes its own file: the loaded code continues to run", async () => {
      const caller: PluginCaller = { kind: "trigger", database: "db", trigger: "deleted", runAsync: false };
      const plugin = bench.plugin("deleted.py", scheduled("if os.path.exists(__file__): os.remove(__file__)\nlocal.info('ran')"));
      for (let i = 0; i < 2; i++) expect((await bench.run(plugin, SCHEDULE, { caller })).lines).toEqual(["INFO: ran"]);
    });

    test("forks: the child's return is no answer, and it ends", async () => {
      const { outcome, lines } = await run("pid = os.fork()\nif pid == 0: return\nos.waitpid(pid, 0)\nlocal.info('parent')", "forks");
      expect(outcome.failure).toBeNull();
      expect(lines).toEqual(["INFO: parent"]);
    });

    test("forks a process that stays: it is killed with the trigger", async () => {
      const { lines } = await run("pid = os.fork()\nif pid == 0: time.sleep(600)\nlocal.info(pid)", "stays");
      const pid = Number(lines[0]!.slice("INFO: ".length));
      expect(isAlive(pid)).toBe(true);
      await bench.runtime.stopTrigger("db", "stays");
      while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
    });

    const DAEMONS: [what: string, start: string][] = [
      ["starts in a session of its own", "pid = subprocess.Popen(['sleep', '600'], start_new_session=True).pid"],
      [
        "forks twice, as daemons do",
        "read, write = os.pipe()\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.write(write, b'%d' % os.getpid())\n        time.sleep(600)\n    os._exit(0)\nos.wait()\npid = int(os.read(read, 20))",
      ],
    ];
    test.each(DAEMONS)("a process that it %s is killed with the trigger, and others stay", async (what, start) => {
      const pidOf = async (trigger: string) =>
        Number((await run(`import subprocess\n${start}\nlocal.info(pid)`, trigger)).lines[0]!.slice("INFO: ".length));
      const [pid, other] = [await pidOf(what), await pidOf(`other ${what}`)];
      await bench.runtime.stopTrigger("db", what);
      // dead ones are there until their parent has taken notice
      while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
      expect(isAlive(other)).toBe(true);
      await bench.runtime.stopTrigger("db", `other ${what}`);
      while (isAlive(other)) await new Promise((resolve) => setTimeout(resolve, 5));
    });

    test("processes of other sessions that eat memory end with the run", async () => {
      // they begin when the parent has said who they are
      const child =
        "os.setsid()\n        os.close(write)\n        os.read(read, 1)\n        x = bytearray(b'x' * (40 << 20))\n        time.sleep(60)";
      const body = `read, write = os.pipe()\npids = []\nfor i in range(4):\n    pids.append(os.fork())\n    if pids[-1] == 0:\n        ${child}\nlocal.info(*pids)\nos.close(write)\ntime.sleep(60)`;
      const { outcome, lines } = await run(body, "eats apart");
      expect(outcome.failure?.kind).toBe("memory");
      const pids = lines[0]!.slice("INFO: ".length).split(" ").map(Number);
      expect(pids.length).toBe(4);
      while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 5));
    });

    test("asks from a thread after its run is over", async () => {
      const body =
        "import threading\ndef late():\n    time.sleep(0.1)\n    try: local.query('x')\n    except Exception as error: print('late:', error, flush=True)\nthreading.Thread(target=late).start()";
      expect((await run(body, "thread")).outcome.failure).toBeNull();
      while (!bench.printed.some((line) => line.startsWith("late: no run is under way")))
        await new Promise((resolve) => setTimeout(resolve, 5));
    });
  });

  describe("stopping", () => {
    test("an abort raises KeyboardInterrupt, and calls of the API raise it again", async () => {
      const abort = new AbortController();
      const body =
        "local.info('begun')\ntry: time.sleep(60)\nexcept KeyboardInterrupt as error: print('interrupted:', error, flush=True)\nlocal.query('x')";
      const begun = Promise.withResolvers<void>();
      const running = run(body, "interrupted", { signal: abort.signal, onLine: begun.resolve });
      await begun.promise;
      abort.abort();
      expect((await running).outcome.failure).toMatchObject({ kind: "stopped", message: "the run was stopped" });
      expect((await run("local.info('well')", "interrupted")).lines).toEqual(["INFO: well"]);
    });

    test("in a handler of KeyboardInterrupt logging and the cache work; statements and writes raise it again", async () => {
      const abort = new AbortController();
      const body = `try:
    local.info('begun')
    time.sleep(60)
except KeyboardInterrupt:
    local.cache.put('left', 'undone')
    local.warn('leaves', local.cache.get('left'))
    for call in (lambda: local.query('x'), lambda: local.write('a n=1'), lambda: local.write_sync('a n=1', False)):
        try: call()
        except KeyboardInterrupt as error: local.warn(error)
    raise`;
      const begun = Promise.withResolvers<void>();
      const running = run(body, "handler", { signal: abort.signal, onLine: begun.resolve });
      await begun.promise;
      abort.abort();
      const { outcome, lines } = await running;
      expect(outcome.failure).toMatchObject({ kind: "stopped" });
      const again = "WARN: influxdb3 is shutting down; aborting plugin execution";
      expect(lines).toEqual(["INFO: begun", "WARN: leaves undone", again, again, again]);
      expect((await run("local.info(local.cache.get('left'))", "handler")).lines).toEqual(["INFO: undone"]);
    });

    test("an interrupt never splits a frame: the same process continues", async () => {
      const pids = new Set<string>();
      for (let round = 0; round < 20; round++) {
        const abort = new AbortController();
        let lineCount = 0;
        const onLine = () => {
          if (++lineCount === 2 + round) abort.abort();
        };
        const { outcome } = await run("while True: local.info('€' * 60000)", "frames", { signal: abort.signal, onLine });
        expect(outcome.failure).toMatchObject({ kind: "stopped" });
        pids.add((await run("local.info(os.getpid())", "frames")).lines[0]!);
      }
      expect(pids.size).toBe(1);
    });

    test("stopTrigger ends running and waiting runs", async () => {
      const begun = Promise.withResolvers<void>();
      const runs = [0, 1, 2].map(() => run("local.info('begun')\ntime.sleep(60)", "stopped", { onLine: begun.resolve }));
      await begun.promise;
      await bench.runtime.stopTrigger("db", "stopped");
      for (const { outcome } of await Promise.all(runs)) expect(outcome.failure?.kind).toBe("stopped");
    });

    test("stopTrigger of triggers whose processes wait for their start: no process is started for them", async () => {
      const runs = Array.from({ length: 30 }, (_, i) => run("local.info('begun')\ntime.sleep(60)", `queued ${i}`));
      const all = Promise.all(runs.map((_, i) => bench.runtime.stopTrigger("db", `queued ${i}`)));
      const found = await Promise.all(runs);
      await all;
      expect(new Set(found.map(({ outcome }) => outcome.failure?.kind))).toEqual(new Set(["stopped"]));
      expect(found.filter(({ lines }) => lines.length > 0).length).toBeLessThanOrEqual(2);
    });

    test("runs of one trigger do not overlap unless it is asynchronous, and then as many as the limit", async () => {
      const overlap = async (runAsync: boolean) => {
        const caller: PluginCaller = { kind: "trigger", database: "db", trigger: `overlap ${runAsync}`, runAsync };
        // each waits until as many as the limit have begun
        const begun = `${bench.folder}/begun ${runAsync}`;
        const body = `began = time.time()
with open(${JSON.stringify(begun)}, 'a') as file: file.write('x')
while os.path.getsize(${JSON.stringify(begun)}) < ${runAsync ? 4 : 1}: time.sleep(0.005)
time.sleep(0.02)
local.info(began, time.time())`;
        const plugin = bench.plugin("overlap.py", scheduled(body));
        const runs = await Promise.all(Array.from({ length: 6 }, () => bench.run(plugin, SCHEDULE, { caller })));
        const times = runs.map(({ lines }) => lines[0]!.slice("INFO: ".length).split(" ").map(Number) as [number, number]);
        return Math.max(...times.map(([began]) => times.filter(([from, to]) => from <= began && began < to).length));
      };
      expect(await overlap(false)).toBe(1);
      expect(await overlap(true)).toBe(4);
    });
  });

  const ORPHANS: [what: string, body: string][] = [
    ["in a loop that holds the interpreter", "local.info(os.getpid())\nsum(iter(int, 1))"],
    ["that a plugin forked", "pid = os.fork()\nif pid == 0: time.sleep(600)\nlocal.info(os.getpid(), pid)\nsum(iter(int, 1))"],
    [
      "that a plugin started",
      "import subprocess\nlocal.info(os.getpid(), subprocess.Popen(['sleep', '600']).pid, subprocess.Popen('sleep 600; true', shell=True).pid)\ntime.sleep(600)",
    ],
    [
      "of sessions of their own",
      "import subprocess\nlocal.info(os.getpid(), subprocess.Popen(['sleep', '600'], start_new_session=True).pid)\ntime.sleep(600)",
    ],
    ["that a run left behind", "import subprocess\nlocal.info(os.getpid(), subprocess.Popen(['sleep', '600']).pid)"],
  ];
  test.each(ORPHANS)("processes %s end when the server is killed", async (_, body) => {
    const script = `
      import { PluginBench } from ${JSON.stringify(`${import.meta.dir}/../../test/support/plugins/plugins.ts`)};
      const bench = new PluginBench({ timeMsMax: 0 });
      const plugin = bench.plugin("loop.py", ${JSON.stringify(scheduled(body))});
      void bench.runtime.run(
        { caller: { kind: "trigger", database: "d", trigger: "t", runAsync: false }, plugin, payload: { kind: "schedule", timeMs: 0 }, arguments: null },
        { signal: new AbortController().signal, onLog: ({ text }) => console.log(text) },
      );`;
    const server = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
    const { value } = await server.stdout.getReader().read();
    const pids = new TextDecoder().decode(value).trim().split(" ").map(Number);
    for (const pid of pids) expect(isAlive(pid)).toBe(true);
    server.kill("SIGKILL");
    while (pids.some(isAlive)) await new Promise((resolve) => setTimeout(resolve, 5));
  });

  test("a PATH without Python: runs fail and say what to install", async () => {
    const { PythonRuntime } = await import("./python-runtime.ts");
    const { Interpreter } = await import("./process/interpreter.ts");
    const interpreter = new Interpreter({ python: null, virtualEnv: `${bench.folder}/.venv`, environment: { PATH: "/nonexistent" } });
    const runtime = new PythonRuntime({
      ...{ files: bench.files, interpreter, host: bench.host, environment: {}, memoryBytesMax: 1 << 28, timeMsMax: 0 },
      ...{ asyncRunsMax: 1, processesMax: 1 },
      onPrinted: () => {},
    });
    const call = { caller: { kind: "test", database: "d", cacheName: "c" }, plugin: "/x.py", payload: SCHEDULE, arguments: null } as const;
    const { failure } = await runtime.run(call, { signal: new AbortController().signal, onLog: () => {} });
    expect(failure).toMatchObject({ kind: "no-python" });
    expect(failure!.message).toContain("there is no python3 on the PATH; install it");
  });
}
