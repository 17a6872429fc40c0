// Names as the dialect has them: catalog `public`, schema `iox`, unquoted letters small, quoted ones as they are.
import { ColumnType } from "../../src/model/rows/column.ts";
import { FakeTable } from "../support/rows/fake-table.ts";
import { sqlSuite, utc } from "../support/sql/sql-suite.ts";

const { time, tag, float, integer, string } = ColumnType;
const T0 = utc("2022-01-01T00:00:00");

/** Tables and columns that differ in case only, and names that other dialects give a meaning. */
const tables = (kernel: ConstructorParameters<typeof FakeTable>[0]) => [
  new FakeTable(kernel, "Home", { time, Room: tag, room: tag, ROOM: string, Temp: float, temp: float }, [
    { time: T0, Room: "R1", room: "r1", ROOM: "RR1", Temp: 1.5, temp: 2.5 },
    { time: T0 + 1n, Room: "R2", room: "r2", ROOM: "RR2", Temp: 3.5, temp: null },
  ]),
  new FakeTable(kernel, "HOME", { time, n: integer }, [{ time: T0, n: 7n }]),
  new FakeTable(kernel, "select", { time, from: tag, Order: integer }, [{ time: T0, from: "x", Order: 1n }]),
  new FakeTable(kernel, "iox", { time, public: integer, iox: integer, system: integer }, [{ time: T0, public: 1n, iox: 2n, system: 3n }]),
  new FakeTable(kernel, "with.dot", { time, "a.b": integer, a: integer, 'q"q': integer }, [{ time: T0, "a.b": 1n, a: 2n, 'q"q': 3n }]),
];

sqlSuite(
  "tables",
  [
    // one, two and three parts, quoted or not
    ["SELECT count(*) FROM home", [[26n]]],
    ["SELECT count(*) FROM iox.home", [[26n]]],
    ["SELECT count(*) FROM public.iox.home", [[26n]]],
    ["SELECT count(*) FROM Public.IOX.hOmE", [[26n]]],
    ['SELECT count(*) FROM "public"."iox"."home"', [[26n]]],
    ['SELECT count(*) FROM "Home"', [[2n]]],
    ['SELECT count(*) FROM iox."HOME"', [[1n]]],
    ['SELECT count(*) FROM public.iox."Home"', [[2n]]],
    ["SELECT count(*) FROM iox.iox", [[1n]]],
    ["SELECT count(*) FROM public.iox.iox", [[1n]]],
    ['SELECT count(*) FROM "with.dot"', [[1n]]],
    ['SELECT count(*) FROM "select"', [[1n]]],
    // what is not there
    ["SELECT * FROM hom", new Error("table 'public.iox.hom' not found")],
    ['SELECT * FROM "hOME"', new Error("table 'public.iox.hOME' not found")],
    ['SELECT * FROM "IOX".home', new Error("table 'public.IOX.home' not found")],
    ['SELECT * FROM "Public".iox.home', new Error("table 'Public.iox.home' not found")],
    ["SELECT * FROM other.home", new Error("table 'public.other.home' not found")],
    ["SELECT * FROM other.iox.home", new Error("table 'other.iox.home' not found")],
    ["SELECT * FROM main.home", new Error("table 'public.main.home' not found")],
    ["SELECT * FROM system.home", new Error("table 'public.system.home' not found")],
    ["SELECT * FROM public.home", new Error("table 'public.public.home' not found")],
    ["SELECT * FROM a.b.c.home", new Error("SQL error")],
    // all three at once
    ['SELECT count(*) FROM home AS a, "Home" AS b, "HOME" AS c', [[52n]]],
    ['SELECT count(*), sum("HOME".n) FROM home, "HOME"', [[26n, 182n]]],
    ['SELECT "Home"."Room", "HOME".n FROM "Home" JOIN "HOME" USING (time)', [["R1", 7n]]],
    [
      'SELECT h."Temp", "H".n FROM "Home" AS h, "HOME" AS "H" ORDER BY 1',
      [
        [1.5, 7n],
        [3.5, 7n],
      ],
    ],
  ],
  tables,
);

sqlSuite(
  "columns",
  [
    [
      'SELECT "Room", room, "ROOM" FROM "Home" ORDER BY time',
      [
        ["R1", "r1", "RR1"],
        ["R2", "r2", "RR2"],
      ],
    ],
    [
      'SELECT Room, ROOM, rOOm FROM "Home" ORDER BY time',
      [
        ["r1", "r1", "r1"],
        ["r2", "r2", "r2"],
      ],
    ],
    ['SELECT "Temp" FROM "Home" WHERE temp = 2.5', [[1.5]]],
    ['SELECT temp FROM "Home" WHERE "Temp" > 3', [[null]]],
    ['SELECT "Room" FROM "Home" WHERE room = \'r2\' AND "ROOM" = \'RR2\'', [["R2"]]],
    [
      'SELECT "Room", sum("Temp"), count(temp) FROM "Home" GROUP BY "Room" ORDER BY "Room" DESC',
      [
        ["R2", 3.5, 0n],
        ["R1", 1.5, 1n],
      ],
    ],
    ['SELECT room, max("Temp") FROM "Home" GROUP BY ROOM HAVING max("Temp") > 2', [["r2", 3.5]]],
    // in HAVING a column comes before an alias, in ORDER BY the alias
    ['SELECT upper(room) AS room FROM "Home" GROUP BY "Home".room HAVING room > \'a\' ORDER BY room DESC', [["R2"], ["R1"]]],
    ['SELECT room AS r, max("Temp") AS t FROM "Home" GROUP BY r HAVING t > 2', [["r2", 3.5]]],
    ['SELECT room, max("Temp") AS temp FROM "Home" GROUP BY room HAVING temp > 2', new Error("temp must appear in the GROUP BY clause")],
    ['SELECT "Temp" AS temp FROM "Home" ORDER BY temp', [[1.5], [3.5]]],
    ['SELECT temp AS "Temp" FROM "Home" ORDER BY "Temp" DESC', [[null], [2.5]]],
    ['SELECT "Room" FROM (SELECT room AS "Room" FROM "Home") ORDER BY 1', [["r1"], ["r2"]]],
    ['SELECT x."A", x.a FROM (SELECT 1 AS "A", 2 AS a) AS x', [[1n, 2n]]],
    ['SELECT "X"."A" FROM (SELECT 1 AS "A") AS "X"', [[1n]]],
    ['WITH "C" AS (SELECT 1 AS v), c AS (SELECT 2 AS v) SELECT "C".v, c.v FROM "C", c', [[1n, 2n]]],
    ['WITH c("V", v) AS (SELECT 1, 2) SELECT v, "V" FROM C', [[2n, 1n]]],
    ['SELECT max("Temp") OVER (PARTITION BY "Room") FROM "Home" ORDER BY "Room"', [[1.5], [3.5]]],
    ['SELECT * EXCLUDE ("Room", time, "ROOM", temp, room) FROM "Home" ORDER BY "Temp"', [[1.5], [3.5]]],
    // the table's name before the column's
    ["SELECT home.temp FROM home ORDER BY time, room LIMIT 1", [[21.0]]],
    ["SELECT iox.home.temp FROM home ORDER BY time, room LIMIT 1", [[21.0]]],
    ["SELECT public.iox.home.temp FROM public.iox.home ORDER BY public.iox.home.time, iox.home.room LIMIT 1", [[21.0]]],
    ['SELECT "Home"."Room" FROM iox."Home" WHERE iox."Home".temp IS NULL', [["R2"]]],
    ["SELECT iox.public, iox.iox, iox.system FROM iox", [[1n, 2n, 3n]]],
    ["SELECT iox.iox.iox FROM iox.iox", [[2n]]],
    ["SELECT home.temp FROM home AS h", new Error("home")],
    ['SELECT "Home".room FROM home', new Error("Home")],
    ['SELECT "Temperature" FROM "Home"', new Error("Temperature")],
    ['SELECT "TEMP" FROM "Home"', new Error("TEMP")],
    // names with dots, quotes and words of the grammar
    ['SELECT "a.b", a, "q""q" FROM "with.dot"', [[1n, 2n, 3n]]],
    ['SELECT "with.dot"."a.b" FROM "with.dot"', [[1n]]],
    ['SELECT "from", "Order" FROM "select" WHERE "from" = \'x\' ORDER BY "Order"', [["x", 1n]]],
    // members of structs keep their case too
    ["SELECT selector_max(temp, time)['value'] FROM home WHERE room = 'Kitchen'", [[23.3]]],
  ],
  tables,
);

sqlSuite(
  "SELECT * is in the order of names, byte for byte",
  [
    ["SELECT * FROM home ORDER BY time, room LIMIT 1", [[0n, 35.9, "Kitchen", 21.0, utc("2022-01-01T08:00:00")]]],
    // R of ROOM, Room, then Temp; small letters behind capitals
    ['SELECT * FROM "Home" ORDER BY time LIMIT 1', [["RR1", "R1", 1.5, "r1", 2.5, T0]]],
    ['SELECT h.* FROM "Home" AS h ORDER BY time LIMIT 1', [["RR1", "R1", 1.5, "r1", 2.5, T0]]],
    ['SELECT "Home".*, "HOME".* FROM "Home" JOIN "HOME" ON "Home".time = "HOME".time', [["RR1", "R1", 1.5, "r1", 2.5, T0, 7n, T0]]],
  ],
  tables,
);
