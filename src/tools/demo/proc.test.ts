// The machine's counters: texts as a kernel writes them, and the lines they become.
import { expect, test } from "bun:test";
import { lineOf } from "./line.ts";
import { type ProcTexts, procPoints } from "./proc.ts";

const NOW: ProcTexts = {
  stat: `cpu  300 0 100 500 50 25 25 0 7 0
cpu0 150 0 50 250 25 12 13 0 0 0
intr 12345 0 1
ctxt 99
`,
  meminfo: `MemTotal:        8000 kB
MemFree:         1000 kB
MemAvailable:    6000 kB
Buffers:          100 kB
HugePages_Total:       0
`,
  diskstats: `   7       0 loop0 5 0 10 1 0 0 0 0 0 1 1
 259       0 nvme0n1 100 2 2000 30 50 4 400 60 0 70 90 0 0 0 0
   8       0 sda 0 0 0 0 0 0 0 0 0 0 0
`,
  netDev: `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo: 1000      10    0    0    0     0          0         0     2000      20    1    2    0     0       0          0
`,
  loadavg: "0.52 0.58 0.59 1/500 4242\n",
  uptime: "350735.47 234388.90\n",
};

test("points of two readings of /proc", () => {
  const before = { ...NOW, stat: NOW.stat.replace("cpu  300", "cpu  200").replace("cpu0 150", "cpu0 140") };
  expect(procPoints(before, NOW, "box 1", 5n).map(lineOf)).toEqual([
    "cpu,host=box\\ 1,cpu=cpu-total usage_user=100,usage_nice=0,usage_system=0,usage_idle=0,usage_iowait=0,usage_irq=0,usage_softirq=0,usage_steal=0 5",
    "cpu,host=box\\ 1,cpu=cpu0 usage_user=100,usage_nice=0,usage_system=0,usage_idle=0,usage_iowait=0,usage_irq=0,usage_softirq=0,usage_steal=0 5",
    "mem,host=box\\ 1 total=8192000i,free=1024000i,available=6144000i,buffered=102400i,used_percent=25 5",
    "diskio,host=box\\ 1,name=nvme0n1 reads=100i,writes=50i,read_bytes=1024000i,write_bytes=204800i,read_time=30i,write_time=60i,io_time=70i 5",
    "net,host=box\\ 1,interface=lo bytes_recv=1000i,packets_recv=10i,err_in=0i,drop_in=0i,bytes_sent=2000i,packets_sent=20i,err_out=1i,drop_out=2i 5",
    "system,host=box\\ 1 load1=0.52,load5=0.58,load15=0.59,uptime=350735.47 5",
  ]);
});

test("no time has passed, or a processor is new: no share to tell", () => {
  const tables = (before: ProcTexts) => procPoints(before, NOW, "h", 1n).map(({ table }) => table);
  expect(tables(NOW)).toEqual(["mem", "diskio", "net", "system"]);
  expect(tables({ ...NOW, stat: "" })).toEqual(["mem", "diskio", "net", "system"]);
});

test("shares add up to a hundred", () => {
  const before = { ...NOW, stat: "cpu  250 0 90 475 45 20 20 0 0 0\n" };
  const [total] = procPoints(before, NOW, "h", 1n);
  const sum = Object.values(total!.fields).reduce((all, { value }) => all + Number(value), 0);
  expect(sum).toBeCloseTo(100, 9);
  expect(total!.fields["usage_user"]!.value).toBe(50);
});
