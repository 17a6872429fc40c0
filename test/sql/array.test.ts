// Lists. Expected values: the documentation's examples of each function, counted by hand.
import { type SqlCase, sqlSuite, utc } from "../support/sql/sql-suite.ts";

const HOUR = 3_600_000_000_000n;

const MADE: readonly SqlCase[] = [
  ["SELECT make_array(1, 2), make_list('a'), [1, 2], make_array(), ARRAY[1, 2]", [[[1n, 2n], ["a"], [1n, 2n], [], [1n, 2n]]]],
  [
    "SELECT make_array(1, NULL), make_array(1, 2.5), [[1, 2], [3]]",
    [
      [
        [1n, null],
        [1, 2.5],
        [[1n, 2n], [3n]],
      ],
    ],
  ],
  ["SELECT make_array(1, 'a')", new Error("Cannot cast string 'a' to value of Int64 type")],
  ["SELECT make_array(co, co + 1) FROM home WHERE co > 20 ORDER BY co", [[[22n, 23n]], [[26n, 27n]]]],
  ["SELECT array_repeat(1, 3), list_repeat([1], 2), array_repeat('x', 0), array_repeat(1, -1)", [[[1n, 1n, 1n], [[1n], [1n]], [], []]]],
  ["SELECT array_repeat('b', NULL::int)", [[[]]]],
  ["SELECT array_repeat(1, 2000000)", new Error("more than 1048576")],
  [
    "SELECT generate_series(1, 5), generate_series(3), generate_series(1, 10, 3), generate_series(5, 1, -2), generate_series(3, 1)",
    [[[1n, 2n, 3n, 4n, 5n], [0n, 1n, 2n, 3n], [1n, 4n, 7n, 10n], [5n, 3n, 1n], []]],
  ],
  [
    "SELECT range(1, 5), range(3), range(0, 10, 3), range(5, 1, -2), range(3, 1)",
    [[[1n, 2n, 3n, 4n], [0n, 1n, 2n], [0n, 3n, 6n, 9n], [5n, 3n], []]],
  ],
  ["SELECT range(co, co + 3) FROM home WHERE co = 26", [[[26n, 27n, 28n]]]],
  ["SELECT generate_series(1, 3, 0)", new Error("step can't be 0")],
  ["SELECT generate_series(1, co * 1000000000) FROM home", new Error("a value of more than 8192")],
  ["SELECT range(9223372036854775807, -9223372036854775808)", [[[]]]],
  [
    "SELECT generate_series(timestamp '2024-01-01', timestamp '2024-01-01T02:00:00', interval '1 hour')",
    [[[0n, 1n, 2n].map((n) => utc("2024-01-01T00:00:00") + n * HOUR)]],
  ],
  [
    "SELECT array_length(range(time, time + interval '1 second', interval '100 nanoseconds')) FROM home",
    new Error("a value of more than 8192"),
  ],
  // days since 1970
  [
    "SELECT generate_series(date '2024-01-01', date '2024-01-03', interval '1 day'), range(date '2024-01-01', date '2024-01-03', interval '1 day')",
    [
      [
        [19723, 19724, 19725],
        [19723, 19724],
      ],
    ],
  ],
  ["SELECT * FROM generate_series(1, 3)", [[1n], [2n], [3n]]],
  ["SELECT value * 2 FROM range(1, 3)", [[2n], [4n]]],
  ["SELECT n FROM generate_series(1, 10, 4) AS t(n) ORDER BY n DESC", [[9n], [5n], [1n]]],
  ["SELECT unnest([1, 2, 3]) + 1", [[2n], [3n], [4n]]],
  [
    "SELECT unnest([1, 2]) AS x, unnest(['a', 'b', 'c']) AS y",
    [
      [1n, "a"],
      [2n, "b"],
      [null, "c"],
    ],
  ],
  ["SELECT * FROM unnest([1, 2]) AS t(x)", [[1n], [2n]]],
  [
    "SELECT t.* FROM unnest(['a', 'b'], [1]) AS t",
    [
      ["a", 1n],
      ["b", null],
    ],
  ],
  ["SELECT count(*) FROM home, unnest([1, 2, 3]) u WHERE room = 'Kitchen'", [[39n]]],
  ['SELECT max("UNNEST(make_array(Int64(1),Int64(2)))") FROM unnest([1, 2])', [[2n]]],
  ["SELECT * FROM unnest(struct(1, 'a'))", [[1n, "a"]]],
];

const READ: readonly SqlCase[] = [
  [
    "SELECT array_element([1, 2, 3], 2), array_element([1, 2, 3], -1), array_extract([1, 2], 5), list_element(['a', 'b'], 1), list_extract([1], 0)",
    [[2n, 3n, null, "a", null]],
  ],
  ["SELECT [10, 20, 30][2], [10, 20, 30][-1], [1][0], [1][NULL], [[1, 2], [3]][1][2]", [[20n, 30n, null, null, 2n]]],
  ["SELECT array_any_value([NULL, 1, 2]), list_any_value(['a']), array_any_value(make_array(NULL, NULL))", [[1n, "a", null]]],
  ["SELECT array_length([1, 2, 3]), list_length(make_array()), array_length([1, NULL]), array_length(NULL)", [[3n, 0n, 2n, null]]],
  [
    "SELECT array_length([[1, 2], [3, 4], [5, 6]]), array_length([[1, 2], [3, 4]], 2), array_length([[1, 2]], 3), array_length([1], 0)",
    [[3n, 2n, null, null]],
  ],
  [
    "SELECT array_dims([[1, 2, 3], [4, 5, 6]]), list_dims([1, 2, 3]), array_dims([[[1]]]), array_dims(make_array())",
    [[[2n, 3n], [3n], [1n, 1n, 1n], null]],
  ],
  ["SELECT array_ndims([[1, 2], [3]]), list_ndims([1]), array_ndims([[[1]]]), array_ndims(NULL)", [[2n, 1n, 3n, null]]],
  [
    "SELECT cardinality([1, 2, 3]), cardinality([[1, 2], [3, 4]]), cardinality(make_array()), cardinality([[[1, 2]], [[3]]])",
    [[3n, 4n, null, 3n]],
  ],
  [
    "SELECT empty([1]), empty(make_array()), array_empty([NULL]), list_empty(make_array()), empty(NULL)",
    [[false, true, false, true, null]],
  ],
  [
    "SELECT array_has([1, 2], 2), array_has([1, 2], 3), array_contains([1], 1), list_has(['a'], 'a'), list_contains(['a'], 'b'), array_has([1, NULL], NULL)",
    [[true, false, true, true, false, null]],
  ],
  [
    "SELECT array_has_all([1, 2, 3], [1, 3]), array_has_all([1], [1, 2]), list_has_all([1, 2], [2]), array_has_all([1], make_array())",
    [[true, false, true, true]],
  ],
  ["SELECT array_has_any([1, 2], [2, 9]), list_has_any([1], [3]), arrays_overlap([1, 2], [2])", [[true, false, true]]],
  [
    "SELECT array_position([1, 2, 2, 3], 2), array_position([1, 2, 2, 3], 2, 3), array_indexof(['a', 'b'], 'b'), list_position([1], 9), list_indexof([1, NULL], NULL)",
    [[2n, 3n, 2n, null, 2n]],
  ],
  ["SELECT array_position([1, 2], 1, 0)", new Error("start_from out of bounds: 0")],
  ["SELECT array_positions([1, 2, 2, 3], 2), list_positions([1], 9), array_positions([1, NULL, NULL], NULL)", [[[2n, 3n], [], [2n, 3n]]]],
  [
    "SELECT array_max([3, 1, 4]), list_max(['a', 'c', 'b']), array_min([3, 1, 4]), list_min([2.5, NULL]), array_max([NULL, 2]), array_max(make_array())",
    [[4n, "c", 1n, 2.5, 2n, null]],
  ],
  ["SELECT array_distance([1, 2], [1, 4]), list_distance([1, 1, 0], [4, 5, 0])", [[2, 5]]],
  ["SELECT array_distance([1], [1, 2])", new Error("dimensions must be equal")],
  [
    "SELECT array_to_string([1, 2, 3], ','), array_to_string([1, NULL, 3], ',', '*'), list_to_string([1, NULL, 3], ',')",
    [["1,2,3", "1,*,3", "1,3"]],
  ],
  [
    "SELECT array_to_string([1.0, 2.5, 3.0], '|'), array_to_string([[1.0], [NULL, -0.5]], ',', '*'), array_to_string(['1.0', '2'], ',')",
    [["1|2.5|3", "1,*,-0.5", "1.0,2"]],
  ],
  [
    "SELECT array_to_string([100.0, arrow_cast('NaN', 'Float64'), 1e0], ','), array_to_string([arrow_cast(2, 'Float32')], ',')",
    [["100,NaN,1", "2"]],
  ],
  [
    "SELECT array_to_string([1e-5, 1e21, -1.5e-7, 1e15, 12345678901234567890.0], ' '), array_to_string([5e-7, NULL], ',', '-')",
    [["0.00001 1000000000000000000000 -0.00000015 1000000000000000 12345678901234567000", "0.0000005,-"]],
  ],
  [
    "SELECT array_to_string([1e40, 1e41, -1.5e-40, 1.5e-41, 5e-324, -1e300], ' ')",
    [["10000000000000000000000000000000000000000 1e41 -0.00000000000000000000000000000000000000015 1.5e-41 5e-324 -1e300"]],
  ],
  [
    "SELECT array_join(['a', NULL, 'b'], '-', '?'), list_join(['a', 'b'], '-'), array_to_string([[1, 2], [3]], '+'), array_to_string([1], NULL)",
    [["a-?-b", "a-b", "1+2+3", null]],
  ],
  ["SELECT [1, 2] = [1, 2], [1, 2] = [2, 1], [1] < [2]", [[true, false, true]]],
  ["SELECT 1 = ANY([1, 2]), 3 = ANY([1, 2]), 1 IN (SELECT unnest([1, 2]))", [[true, false, true]]],
];

const CHANGED: readonly SqlCase[] = [
  [
    "SELECT array_append([1, 2], 3), list_append([1], NULL), array_push_back([1], 2), list_push_back([1], 2), array_append([[1]], [2])",
    [
      [
        [1n, 2n, 3n],
        [1n, null],
        [1n, 2n],
        [1n, 2n],
        [[1n], [2n]],
      ],
    ],
  ],
  [
    "SELECT array_prepend(1, [2, 3]), list_prepend(1, [2]), array_push_front(1, [2]), list_push_front(0, [1])",
    [
      [
        [1n, 2n, 3n],
        [1n, 2n],
        [1n, 2n],
        [0n, 1n],
      ],
    ],
  ],
  ["SELECT array_append(make_array(), 1), array_append(make_array(), 'a')", [[[1n], ["a"]]]],
  [
    "SELECT array_cat([1, 2], [3]), array_concat([1], [2, 3], [4]), list_cat([1], [2]), list_concat([1], [NULL]), [1] || [2]",
    [
      [
        [1n, 2n, 3n],
        [1n, 2n, 3n, 4n],
        [1n, 2n],
        [1n, null],
        [1n, 2n],
      ],
    ],
  ],
  [
    "SELECT array_pop_back([1, 2, 3]), list_pop_back([1]), array_pop_front([1, 2, 3]), list_pop_front([1]), array_pop_back([[1], [2]])",
    [[[1n, 2n], [], [2n, 3n], [], [[1n]]]],
  ],
  ["SELECT array_pop_back(make_array()), array_pop_front(make_array())", [[[], []]]],
  [
    "SELECT array_remove_all([1, NULL, 3], NULL), array_remove([1, NULL, 3, NULL], NULL), array_remove_n([1, NULL, 3, NULL], NULL, 1), array_remove([1], NULL)",
    [[[1n, 3n], [1n, 3n, null], [1n, 3n, null], [1n]]],
  ],
  ["SELECT list_append(NULL, 1), array_prepend(1, NULL), array_append(NULL, 'a'), cardinality(NULL)", [[[1n], [1n], ["a"], 0n]]],
  ["SELECT array_has(make_array(), 1), array_has(make_array(), NULL), array_has([1, 2], 2)", [[false, null, true]]],
  [
    "SELECT CAST([1, NULL, 3] AS varchar), CAST(['a b', 'c''d', ''] AS text), CAST([1.0, 2.5, 1e300] AS text), CAST([true] AS text), CAST(make_array() AS text)",
    [["[1, , 3]", "[a b, c'd, ]", "[1.0, 2.5, 1e300]", "[true]", "[]"]],
  ],
  ["SELECT CAST([TIMESTAMP '2024-01-01T00:00:00', NULL] AS text)", [["[2024-01-01T00:00:00, ]"]]],
  ["SELECT array_remove([1, 2, 2, 3], 2), list_remove([1], 9), array_remove([1, NULL, 2], 2)", [[[1n, 2n, 3n], [1n], [1n, null]]]],
  ["SELECT array_remove_n([1, 2, 2, 3, 2], 2, 2), list_remove_n([1], 1, 0), array_remove_n([1, 2, 1], 1, 9)", [[[1n, 3n, 2n], [1n], [2n]]]],
  ["SELECT array_remove_n([1, 2, 1], 1, -1), array_remove_n([1, 2, 1], 1, NULL)", [[[2n], [1n, 2n, 1n]]]],
  ["SELECT array_remove_all([1, 2, 2, 3], 2), list_remove_all(['a', 'b', 'a'], 'a')", [[[1n, 3n], ["b"]]]],
  [
    "SELECT array_replace([1, 2, 2, 3], 2, 9), list_replace([1], 9, 8), array_replace([1, NULL, 1], 1, NULL)",
    [[[1n, 9n, 2n, 3n], [1n], [null, null, 1n]]],
  ],
  [
    "SELECT array_replace_n([1, 2, 2, 2], 2, 9, 2), list_replace_n([1, 1], 1, 5, 1), array_replace_n([1, 1], 1, 0, 0)",
    [
      [
        [1n, 9n, 9n, 2n],
        [5n, 1n],
        [1n, 1n],
      ],
    ],
  ],
  [
    "SELECT array_replace_all([1, 2, 2], 2, 9), list_replace_all(['a', 'a'], 'a', 'b'), array_replace_all([1, NULL], NULL, 0)",
    [
      [
        [1n, 9n, 9n],
        ["b", "b"],
        [1n, 0n],
      ],
    ],
  ],
  [
    "SELECT array_resize([1, 2, 3], 5), array_resize([1, 2, 3], 5, 0), list_resize([1, 2, 3], 2), array_resize([1], 0)",
    [[[1n, 2n, 3n, null, null], [1n, 2n, 3n, 0n, 0n], [1n, 2n], []]],
  ],
  ["SELECT array_resize([1], 2000000)", new Error("more than 1048576")],
  ["SELECT array_resize([1], -1)", new Error("negative length")],
  ["SELECT array_reverse([1, 2, 3]), list_reverse(['a']), array_reverse([1, NULL])", [[[3n, 2n, 1n], ["a"], [null, 1n]]]],
  [
    "SELECT array_slice([1, 2, 3, 4, 5], 2, 4), array_slice([1, 2, 3, 4, 5], -3, -1), array_slice([1, 2, 3, 4, 5], 1, 5, 2), list_slice([1, 2, 3], 0, 2)",
    [
      [
        [2n, 3n, 4n],
        [3n, 4n, 5n],
        [1n, 3n, 5n],
        [1n, 2n],
      ],
    ],
  ],
  [
    "SELECT array_slice([1, 2, 3], 2, 99), array_slice([1, 2, 3], 3, 1), array_slice([1, 2, 3, 4, 5], 4, 2, -1), array_slice([1, 2, 3], 9, 10)",
    [[[2n, 3n], [], [4n, 3n, 2n], []]],
  ],
  [
    "SELECT [1, 2, 3, 4][2:3], [1, 2, 3, 4][:2], [1, 2, 3, 4][3:], [1, 2, 3, 4, 5][1:5:2], [1, 2, 3, 4][-2:-1]",
    [
      [
        [2n, 3n],
        [1n, 2n],
        [3n, 4n],
        [1n, 3n, 5n],
        [3n, 4n],
      ],
    ],
  ],
  // NULLs first, whatever the direction
  [
    "SELECT array_sort([3, 1, 2]), array_sort([3, 1, 2], 'DESC'), list_sort([3, NULL, 1]), array_sort([3, NULL, 1], 'DESC')",
    [
      [
        [1n, 2n, 3n],
        [3n, 2n, 1n],
        [null, 1n, 3n],
        [null, 3n, 1n],
      ],
    ],
  ],
  [
    "SELECT array_sort([3, NULL, 1], 'DESC', 'NULLS LAST'), array_sort(['b', NULL, 'a'], 'asc', 'nulls last'), array_sort([1.5, 'NaN'::double, 0.5])",
    [
      [
        [3n, 1n, null],
        ["a", "b", null],
        [0.5, 1.5, Number.NaN],
      ],
    ],
  ],
  ["SELECT array_sort([1], 'up')", new Error("array_sort expects 'ASC' or 'DESC'")],
];

const SETS: readonly SqlCase[] = [
  // in the order in which values come first
  [
    "SELECT array_distinct([1, 3, 2, 3, 1]), list_distinct(['b', 'a', 'b']), array_distinct([1, NULL, 1, NULL]), array_distinct(NULL)",
    [[[1n, 2n, 3n], ["a", "b"], [null, 1n], null]],
  ],
  [
    "SELECT array_distinct(list) FROM (VALUES ([3, 1, 3]), ([2]), (NULL), ([1, NULL, 1])) AS v(list)",
    [[[1n, 3n]], [[2n]], [null], [[null, 1n]]],
  ],
  [
    "SELECT array_except([1, 2, 3, 4], [5, 6, 3, 4]), list_except([1, 1, 2], [2]), array_except([1, NULL, 2], [NULL])",
    [[[1n, 2n], [1n], [1n, 2n]]],
  ],
  ["SELECT array_intersect([4, 3, 1, 1], [1, 3]), list_intersect([1], [2]), array_intersect([1, NULL], [NULL])", [[[1n, 3n], [], [null]]]],
  // the vendor's engine (DataFusion 51) puts each side in order
  [
    "SELECT array_union([3, 1], [9, 0, 3]), array_union([3, NULL, 1], [NULL, 2]), array_union(['b', 'a'], ['c']), array_intersect([5, 3, 1], [1, 3, 5])",
    [
      [
        [1n, 3n, 0n, 9n],
        [null, 1n, 3n, 2n],
        ["a", "b", "c"],
        [1n, 3n, 5n],
      ],
    ],
  ],
  [
    "SELECT array_union([1, 2, 3], [5, 6, 3]), list_union([1, 1], [1]), array_union([1, NULL], [NULL, 2])",
    [[[1n, 2n, 3n, 5n, 6n], [1n], [null, 1n, 2n]]],
  ],
  [
    "SELECT flatten([[1, 2], [3]]), flatten([[1], NULL, [2]]), flatten([[[1]], [[2]]]), flatten([1, 2])",
    [
      [
        [1n, 2n, 3n],
        [1n, 2n],
        [[1n], [2n]],
        [1n, 2n],
      ],
    ],
  ],
];

const OF_ROWS: readonly SqlCase[] = [
  ["SELECT array_agg(co ORDER BY time DESC) FROM home WHERE room = 'Kitchen' AND co > 9", [[[26n, 22n, 18n]]]],
  [
    "SELECT array_length(array_agg(co)), array_max(array_agg(co)), array_sort(array_agg(DISTINCT co)) FROM home",
    [[26n, 26n, [0n, 1n, 3n, 4n, 5n, 7n, 9n, 14n, 17n, 18n, 22n, 26n]]],
  ],
  ["SELECT array_distinct(array_agg(room ORDER BY room)) FROM home", [[["Kitchen", "Living Room"]]]],
  [
    "SELECT array_position(make_array('Kitchen', 'x'), room), array_has(make_array('Kitchen'), room) FROM home GROUP BY room ORDER BY room",
    [
      [1n, true],
      [null, false],
    ],
  ],
  [
    "SELECT array_length(x), array_sort(x)[1], x[-1] FROM (SELECT array_agg(co ORDER BY co) AS x FROM home WHERE co > 17)",
    [[3n, 18n, 26n]],
  ],
  ["SELECT array_length([1]) - 5, array_position(['a'], 'a') * 2", [["-4", "2"]]],
  ["SELECT array_length()", new Error("Function 'array_length' expects")],
];

sqlSuite("lists made", MADE);
sqlSuite("lists read", READ);
sqlSuite("lists changed", CHANGED);
sqlSuite("lists as sets", SETS);
sqlSuite("lists of rows", OF_ROWS);
