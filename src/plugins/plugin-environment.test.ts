// The variables that plugins see, in real Python processes.
import { expect, test } from "bun:test";
import { PluginBench, pluginPython } from "../../test/support/plugins.ts";

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
}
