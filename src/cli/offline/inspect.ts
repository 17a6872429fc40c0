// tsdb inspect: what is in the data folder of a stopped server.
import { TsdbError } from "../../model/errors.ts";
import type { ClientCommand } from "../client/command.ts";
import { FOLDER_OPTIONS, FORMAT_OPTION } from "./options.ts";
import type { Summary } from "./summary.ts";
import { tableOf } from "./table.ts";

export const INSPECT_COMMAND: ClientCommand = {
  words: ["inspect"],
  summary: "Show what is in the data folder of a stopped server: databases, files, log, organizations, users.",
  positionals: [],
  options: [...FOLDER_OPTIONS, FORMAT_OPTION],
  verb: "Inspect",
  async run(input, terminal) {
    const format = input.option("format")!;
    if (format !== "pretty" && format !== "json") throw new TsdbError("config", `--format must be pretty or json, got "${format}"`);
    const { summaryOf } = await import("./summary.ts");
    const summary = await summaryOf(input);
    terminal.out(format === "json" ? `${JSON.stringify(summary, null, 2)}\n` : shown(summary));
    return 0;
  },
};

function shown({ folder, node, cluster, log, files, counts, databases }: Summary): string {
  const lines = [
    `folder   ${folder}`,
    `server   ${node}, cluster ${cluster}`,
    `log      ${log.segments} segments, ${size(log.bytes)}; rows up to sequence ${log.filedThrough} are in files`,
    `files    ${files.count}, ${size(files.bytes)}`,
    `records  ${Object.entries(counts)
      .map(([name, count]) => `${count} ${name}`)
      .join(", ")}`,
  ];
  return `${lines.join("\n")}\n\n${databases.length === 0 ? "no databases\n" : tableOf(databases)}`;
}

function size(bytes: number): string {
  return bytes < 1 << 20 ? `${bytes.toLocaleString("en-US")} bytes` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}
