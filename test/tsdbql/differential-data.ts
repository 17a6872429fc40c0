// What the differential suite asks about: a few measurements in which everything that a statement can stumble over is near, and small, so
// that an answer can be read by a person.
const SECOND = 1_000_000_000n;
/** 2024-01-01T00:00:00Z */
const START = 1_704_067_200n * SECOND;

/** `seconds` from the start of 2024. */
const at = (seconds: number) => String(START + BigInt(Math.round(seconds * 1000)) * 1_000_000n);

/** Tags missing in some series, fields of every type missing in some rows, huge integers, negative ones, ties; written out of order. */
const CPU = [
  `cpu,host=a,region=eu usage=1.5,idle=10i,busy=true,note="up",big=9007199254740993i ${at(0)}`,
  `cpu,host=a,region=eu usage=2.5,idle=20i,busy=false,note="" ${at(10)}`,
  `cpu,host=a,region=eu usage=2.5,idle=-5i ${at(20)}`,
  `cpu,host=a,region=eu usage=-0.5,busy=true,note="a \\"b\\" \\\\ c" ${at(60)}`,
  `cpu,host=a,region=eu idle=7i,note="umlaut äöü €" ${at(65)}`,
  `cpu,host=a,region=eu usage=100,idle=0i,big=-9223372036854775808i ${at(130)}`,
  `cpu,host=b,region=us usage=3,idle=11i,busy=false,note="x",big=9223372036854775807i ${at(0)}`,
  `cpu,host=b,region=us usage=1e-7,idle=11i ${at(30)}`,
  `cpu,host=b,region=us usage=1e21,idle=12i,busy=true ${at(61)}`,
  `cpu,host=b,region=us usage=0.1,note="y" ${at(125.5)}`,
  `cpu,host=c usage=7,idle=1i ${at(5)}`,
  `cpu,host=c usage=8,idle=2i,busy=true ${at(15)}`,
  `cpu,host=c usage=8,idle=2i ${at(75)}`,
  `cpu,region=eu usage=0.25,idle=3i ${at(40)}`,
  `cpu usage=42,note="no tags" ${at(0)}`,
];

/** Several values at one time in different series, and values that repeat. */
const MEM = [
  ...[0, 10, 20, 30, 40, 50].flatMap((seconds, i) => [
    `mem,host=a used=${10 + (i % 3)},total=100i ${at(seconds)}`,
    `mem,host=b used=${20 - (i % 2)},total=200i ${at(seconds)}`,
  ]),
  `mem,host=d used=10,total=-100i ${at(300)}`,
];

/** Names that must be quoted. */
const ODD = [
  `odd\\ name,tag\\ key=some\\ value,sel=1 the\\ field=1i,select=2.5 ${at(0)}`,
  `odd\\ name,tag\\ key=other\\,value,sel=2 the\\ field=2i,select=3.5 ${at(10)}`,
  `a.b,from=x where=1i ${at(0)}`,
];

/** Before 1970, at 1970, fractions of every length, far apart; no tags. */
const EVENTS = [
  `events level=1i,text="before" -1500000000`,
  `events level=2i,text="zero" 0`,
  `events level=3i,text="nine" 1`,
  `events level=4i,text="six" 1000`,
  `events level=5i,text="three" 1000000`,
  `events level=6i,text="one" 100000000`,
  `events level=7i,text="day" 86400000000000`,
  `events level=8i,text="later" ${at(0.5)}`,
];

/** Two fields that are never in one row, a third that is in few. */
const SPARSE = Array.from({ length: 12 }, (_, i) => {
  const value = i % 2 === 0 ? `even=${i}i` : `odd=${i * 0.5}`;
  return `sparse,k=${i % 3} ${value}${i % 5 === 0 ? ",rare=true" : ""} ${at(i * 7)}`;
});

/** Long enough for functions over many points: two stations, ups and downs, ties, a gap in the middle. */
const WEATHER = ["n", "s"].flatMap((station, s) =>
  Array.from({ length: 30 }, (_, i) => {
    const seconds = i * 20 + s * 5 + (i > 15 ? 300 : 0);
    const temperature = Math.round(Math.sin(i / 3 + s) * 40) / 4 + 10;
    return `weather,station=${station} t=${temperature},n=${((i * 7) % 11) - 3}i,rain=${i % 4 === 0} ${at(seconds)}`;
  }),
);

/** In other orders than that of time. */
const shuffled = (lines: readonly string[]) => [...lines.filter((_, i) => i % 3 === 1), ...lines.filter((_, i) => i % 3 !== 1).reverse()];

export const DATABASE = "diff";

export interface DataSet {
  readonly database: string;
  readonly retentionPolicy: string | null;
  readonly lines: readonly string[];
}

export const DATA: readonly DataSet[] = [
  { database: DATABASE, retentionPolicy: null, lines: shuffled([...CPU, ...MEM, ...ODD, ...EVENTS, ...SPARSE, ...WEATHER]) },
  { database: DATABASE, retentionPolicy: "short", lines: [`cpu,host=r usage=5 ${at(0)}`, `only_short v=1i ${at(3)}`] },
  { database: "other", retentionPolicy: null, lines: [`cpu,host=z usage=1 ${at(1)}`, `cpu,host=y usage=2 ${at(2)}`] },
  { database: "empty", retentionPolicy: null, lines: [] },
];

/** Before the first line is written. The policy keeps for ever. */
export const PREPARATION: readonly string[] = [
  "CREATE DATABASE diff",
  "CREATE DATABASE other",
  "CREATE DATABASE empty",
  "CREATE RETENTION POLICY short ON diff DURATION INF REPLICATION 1",
];
