// Environment variables and priority of plugins, in real Python processes.
import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { PluginBench, pluginPython } from "../../test/support/plugins/plugins.ts";

const python = pluginPython();
if (python !== null) {
  test("the environment is the server's, with the folders of plugins and packages unless it names others", async () => {
    const { PLUGIN_DIR: _, VIRTUAL_ENV: __, ...rest } = process.env;
    const environment = { ...rest, INFLUXDB3_AUTH_TOKEN: "secret", INFLUXDB3_PLUGIN_DIR: "/mine" };
    const plain = new PluginBench({ environment });
    try {
      const names = ["PLUGIN_DIR", "INFLUXDB3_PLUGIN_DIR", "INFLUXDB3_AUTH_TOKEN", "VIRTUAL_ENV"];
      const source = `def process_scheduled_call(local, when):\n  import os\n  local.info([os.environ.get(name) for name in ${JSON.stringify(names)}])\n`;
      const values = async () => (await plain.run(plain.plugin("names.py", source), { kind: "schedule", timeMs: 0 })).lines;
      expect(await values()).toEqual([`INFO: ['${plain.files.folder}', '/mine', 'secret', None]`]);
      const venv = Bun.spawnSync([python, "-m", "venv", "--without-pip", plain.interpreter.virtualEnv]);
      expect(venv.exitCode).toBe(0);
      plain.runtime.renew();
      expect(await values()).toEqual([`INFO: ['${plain.files.folder}', '/mine', 'secret', '${plain.interpreter.virtualEnv}']`]);
    } finally {
      await plain.close();
    }
  });

  const SWITCH = "/proc/sys/kernel/sched_autogroup_enabled";
  const hasGroups = existsSync(SWITCH) && readFileSync(SWITCH, "latin1").trim() === "1" && existsSync("/proc/self/autogroup");
  test.each([
    ["schedule", 10],
    ["request", 5],
  ] as const)("the priority of plugins on a %s is lower by %d than the server's, also as a group of the scheduler", async (kind, added) => {
    const bench = new PluginBench();
    try {
      const body = `
    import os, time
    for _ in range(2000 if ${hasGroups ? "True" : "False"} else 0):
        with open("/proc/self/autogroup") as file: group = file.read()
        if group.endswith(" ${added}\\n"): break
        time.sleep(0.01)
    else: group = None
    local.info(os.nice(0), ${hasGroups ? "group is not None" : "True"})
    return ""`;
      const source = `def process_scheduled_call(local, when):${body}\ndef process_request(local, query, headers, body):${body}\n`;
      const payload = kind === "schedule" ? { kind, timeMs: 0 } : { kind, query: {}, headers: {}, body: new Uint8Array() };
      const { lines } = await bench.run(bench.plugin("nice.py", source), payload);
      expect(lines).toEqual([`INFO: ${Math.min(19, getPriority() + added)} True`]);
    } finally {
      await bench.close();
    }
  });
}
