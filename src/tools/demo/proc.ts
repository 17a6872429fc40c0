// This machine's counters as points: processors, memory, disks, network and load, parsed from /proc.
import type { Point } from "./line.ts";

/** The texts of one moment. */
export interface ProcTexts {
  readonly stat: string;
  readonly meminfo: string;
  readonly diskstats: string;
  readonly netDev: string;
  readonly loadavg: string;
  readonly uptime: string;
}

export const PROC_FILES: Readonly<Record<keyof ProcTexts, string>> = {
  stat: "/proc/stat",
  meminfo: "/proc/meminfo",
  diskstats: "/proc/diskstats",
  netDev: "/proc/net/dev",
  loadavg: "/proc/loadavg",
  uptime: "/proc/uptime",
};

const CPU_STATES = ["user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"] as const;
const MEMORY_NAMES: Readonly<Record<string, string>> = {
  MemTotal: "total",
  MemFree: "free",
  MemAvailable: "available",
  Buffers: "buffered",
  Cached: "cached",
  SwapTotal: "swap_total",
  SwapFree: "swap_free",
  Dirty: "dirty",
};
/** /proc/diskstats counts in sectors of 512 bytes, whatever the disk's own sector size. */
const SECTOR_BYTES = 512n;

/** The points at `now`; processor shares are measured since `before`. */
export function procPoints(before: ProcTexts, now: ProcTexts, host: string, timeNs: bigint): Point[] {
  const at = { tags: { host }, timeNs };
  return [
    ...cpuPoints(before.stat, now.stat, at),
    memoryPoint(now.meminfo, at),
    ...diskPoints(now.diskstats, at),
    ...networkPoints(now.netDev, at),
    loadPoint(now, at),
  ];
}

interface Moment {
  readonly tags: Point["tags"];
  readonly timeNs: bigint;
}

const float = (value: number) => ({ type: "float", value }) as const;
const integer = (value: bigint) => ({ type: "integer", value }) as const;

/** Percentage of the time since `before` that each processor spent in each state; empty if no time has passed. */
function cpuPoints(before: string, now: string, at: Moment): Point[] {
  const earlier = cpuTicks(before);
  return [...cpuTicks(now)].flatMap(([cpu, ticks]) => {
    const from = earlier.get(cpu);
    const spent = ticks.map((count, state) => count - (from?.[state] ?? count));
    const total = spent.reduce((sum, count) => sum + count, 0);
    if (total <= 0) return [];
    const fields = Object.fromEntries(CPU_STATES.map((state, index) => [`usage_${state}`, float((100 * (spent[index] ?? 0)) / total)]));
    return [{ table: "cpu", ...at, tags: { ...at.tags, cpu: cpu === "cpu" ? "cpu-total" : cpu }, fields }];
  });
}

/** `cpu0  12 0 34 …` -> ticks by state. Guest times are contained in user and nice, and omitted. */
function cpuTicks(stat: string): Map<string, number[]> {
  const lines = stat.split("\n").filter((line) => /^cpu\d* /.test(line));
  return new Map(
    lines.map((line) => {
      const [cpu, ...ticks] = line.split(/\s+/);
      return [cpu!, ticks.slice(0, CPU_STATES.length).map(Number)];
    }),
  );
}

function memoryPoint(meminfo: string, at: Moment): Point {
  const fields: Record<string, Point["fields"][string]> = {};
  for (const [, name, kib] of meminfo.matchAll(/^(\w+):\s+(\d+) kB$/gm)) {
    const field = MEMORY_NAMES[name!];
    if (field !== undefined) fields[field] = integer(BigInt(kib!) * 1024n);
  }
  const total = Number(fields["total"]?.value ?? 0);
  if (total > 0) fields["used_percent"] = float(100 - (100 * Number(fields["available"]?.value ?? 0)) / total);
  return { table: "mem", ...at, fields };
}

/** Disks with any activity, without loop devices and RAM disks. */
function diskPoints(diskstats: string, at: Moment): Point[] {
  return diskstats.split("\n").flatMap((line) => {
    const [, , name, ...counts] = line.trim().split(/\s+/);
    if (name === undefined || counts.length < 11 || /^(loop|ram)\d/.test(name)) return [];
    const [reads, , sectorsRead, readMs, writes, , sectorsWritten, writeMs, , ioMs] = counts.map(BigInt) as [bigint, ...bigint[]];
    if (reads + writes! === 0n) return [];
    const fields = {
      reads: integer(reads),
      writes: integer(writes!),
      read_bytes: integer(sectorsRead! * SECTOR_BYTES),
      write_bytes: integer(sectorsWritten! * SECTOR_BYTES),
      read_time: integer(readMs!),
      write_time: integer(writeMs!),
      io_time: integer(ioMs!),
    };
    return [{ table: "diskio", ...at, tags: { ...at.tags, name }, fields }];
  });
}

function networkPoints(netDev: string, at: Moment): Point[] {
  return netDev.split("\n").flatMap((line) => {
    const match = /^\s*([^:\s]+):\s*(.*)$/.exec(line);
    const counts = match?.[2]?.trim().split(/\s+/).map(BigInt) ?? [];
    if (counts.length < 16) return [];
    const fields = {
      bytes_recv: integer(counts[0]!),
      packets_recv: integer(counts[1]!),
      err_in: integer(counts[2]!),
      drop_in: integer(counts[3]!),
      bytes_sent: integer(counts[8]!),
      packets_sent: integer(counts[9]!),
      err_out: integer(counts[10]!),
      drop_out: integer(counts[11]!),
    };
    return [{ table: "net", ...at, tags: { ...at.tags, interface: match![1]! }, fields }];
  });
}

function loadPoint({ loadavg, uptime }: ProcTexts, at: Moment): Point {
  const [load1, load5, load15] = loadavg.split(" ").map(Number);
  const fields = { load1: float(load1!), load5: float(load5!), load15: float(load15!), uptime: float(Number(uptime.split(" ")[0])) };
  return { table: "system", ...at, fields };
}
