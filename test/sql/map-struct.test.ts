// Maps and structs. Expected values: the documentation's examples of each function.
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

const MAPS: readonly SqlCase[] = [
  [
    "SELECT map(['a', 'b'], [1, 2]), map {'a': 1, 'b': 2}, make_map('a', 1, 'b', 2), MAP(['x'], [NULL])",
    [
      [
        [
          ["a", 1n],
          ["b", 2n],
        ],
        [
          ["a", 1n],
          ["b", 2n],
        ],
        [
          ["a", 1n],
          ["b", 2n],
        ],
        [["x", null]],
      ],
    ],
  ],
  ["SELECT map {'a': 1}['a'], map(['a'], [1])['b'], map {'x': NULL}['x'], make_map(1, 'one')[1]", [[1n, null, null, "one"]]],
  // the value in a list
  [
    "SELECT map_extract(map(['a'], [1]), 'a'), element_at(map(['a', 'b'], [1, 2]), 'b'), map_extract(map(['a'], [1]), 'z'), map_extract(map([1, 2], ['x', 'y']), 2)",
    [[[1n], [2n], [null], ["y"]]],
  ],
  [
    "SELECT map_keys(map {'a': 1, 'b': 2}), map_values(map {'a': 1, 'b': NULL}), cardinality(map {'a': 1}), cardinality(map(['a', 'b'], [1, 2]))",
    [[["a", "b"], [1n, null], 1n, 2n]],
  ],
  ["SELECT map_entries(map {'a': 1})", [[[{ key: "a", value: 1n }]]]],
  ["SELECT get_field(map(['k'], [7]), 'k'), map([[1, 2], [3]], ['x', 'y'])[[3]]", [[7n, "y"]]],
  ["SELECT map([1, 1], [1, 2])", new Error("unique")],
  ["SELECT map(['a', NULL], [1, 2])", new Error("NULL")],
  ["SELECT map(['a'], [1, 2])", new Error("map")],
  ["SELECT make_map('a', 1, 'b')", new Error("make_map requires an even number of arguments")],
  [
    "SELECT map([room], [max(temp)]), map {'n': count(*)}['n'] FROM home GROUP BY room ORDER BY room",
    [
      [[["Kitchen", 23.3]], 13n],
      [[["Living Room", 22.8]], 13n],
    ],
  ],
];

const STRUCTS: readonly SqlCase[] = [
  [
    "SELECT struct(1, 'a'), row(1, 2), named_struct('x', 1, 'y', 'b')",
    [
      [
        { c0: 1n, c1: "a" },
        { c0: 1n, c1: 2n },
        { x: 1n, y: "b" },
      ],
    ],
  ],
  [
    "SELECT struct(1 AS a, 2), struct(temp AS t, struct(hum AS h, co) AS inner) FROM home WHERE co = 7",
    [
      [
        { a: 1n, c1: 2n },
        { t: 22.4, inner: { h: 36, c1: 7n } },
      ],
    ],
  ],
  ["SELECT {'a': 1, 'B': 2}, {a: 1}, {'B': 2}['B']", [[{ a: 1n, B: 2n }, { a: 1n }, 2n]]],
  [
    "SELECT named_struct('x', 1, 'y', 'b')['y'], get_field(named_struct('x', 1), 'x'), struct(1, 'a')['c1'], row('a', 1)['c0']",
    [["b", 1n, "a", "a"]],
  ],
  ["SELECT named_struct('a', named_struct('b', 5))['a']['b'], get_field(named_struct('a', named_struct('b', 5)), 'a', 'b')", [[5n, 5n]]],
  // two names that differ by case alone
  [
    "SELECT named_struct('Key', 1, 'key', 2), named_struct('Key', 1, 'key', 2)['Key'], get_field(named_struct('Key', 1, 'key', 2), 'key')",
    [[{ Key: 1n, key: 2n }, 1n, 2n]],
  ],
  [
    "SELECT s['x'], s.x, s.\"Y\" FROM (SELECT named_struct('x', co, 'Y', room) AS s FROM home WHERE co > 20) ORDER BY 1",
    [
      [22n, 22n, "Kitchen"],
      [26n, 26n, "Kitchen"],
    ],
  ],
  ["SELECT named_struct('x')", new Error("named_struct requires an even number of arguments, got 1 instead")],
  ["SELECT named_struct('x', 1)['nope']", new Error("nope")],
  ["SELECT (1, 2) = (1, 2), (1, 2) < (1, 3), (1, 'x') IN ((1, 'x'), (2, 'y'))", [[true, true, true]]],
  ["SELECT count(*) FROM home WHERE (room, co) IN (('Kitchen', 7), ('Living Room', 17))", [[2n]]],
  ["SELECT count(*) FROM home WHERE (room, co) IN (SELECT room, max(co) FROM home GROUP BY room)", [[2n]]],
  ["SELECT unnest(named_struct('a', 1, 'b', 'x'))", [[1n, "x"]]],
  ["SELECT array_agg(named_struct('t', temp) ORDER BY co) FROM home WHERE co > 20", [[[{ t: 23.1 }, { t: 22.7 }]]]],
];

sqlSuite("maps", MAPS);
sqlSuite("structs", STRUCTS);
