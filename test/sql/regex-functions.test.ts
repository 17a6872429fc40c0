// Regular expressions. Expected values: the documentation of the functions and of the syntax (the regex crate of Rust).
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

const OPERATORS: readonly SqlCase[] = [
  [
    "SELECT 'abc' ~ '^a', 'abc' ~ 'B', 'abc' ~* 'B', 'abc' !~ 'x', 'abc' !~* 'B', NULL ~ 'a', 'a' ~ NULL",
    [[true, false, true, true, false, null, null]],
  ],
  ["SELECT count(*) FROM home WHERE room ~ '^K'", [[13n]]],
  ["SELECT count(*) FROM home WHERE room !~* 'KITCHEN' AND room ~ 'g R'", [[13n]]],
  ["SELECT count(*) FROM home WHERE room ~ ('^' || substr(room, 1, 1))", [[26n]]],
  // a regular expression that may match anywhere, as the vendor's engine takes it
  [
    "SELECT 'abc' SIMILAR TO 'a(b|x)c', 'abc' SIMILAR TO 'b', 'abc' NOT SIMILAR TO '^b', 'abc' SIMILAR TO '(a|b|c)+$'",
    [[true, true, true, true]],
  ],
  ["SELECT 'abc' ~ '('", new Error("Regular expression did not compile: unclosed group")],
];

const FUNCTIONS: readonly SqlCase[] = [
  [
    "SELECT regexp_like('abc', 'b'), regexp_like('abc', '^B', 'i'), regexp_like('abc', '^A', 'i'), regexp_like(NULL, 'a'), regexp_like('a', NULL)",
    [[true, false, true, null, null]],
  ],
  [
    "SELECT room, regexp_like(room, 'R', 'i') FROM home GROUP BY room ORDER BY room",
    [
      ["Kitchen", false],
      ["Living Room", true],
    ],
  ],
  ["SELECT regexp_like('a', 'a', 'g')", new Error('does not support the "global" option')],
  ["SELECT regexp_like('a', 'a', 'q')", new Error("unsupported flags 'q'")],
  [
    "SELECT regexp_instr('foobar', 'bar'), regexp_instr('abcabc', 'b', 3), regexp_instr('abcabc', 'b', 1, 2), regexp_instr('abc', 'z'), regexp_instr(NULL, 'a')",
    [[4n, 5n, 5n, 0n, null]],
  ],
  ["SELECT regexp_instr('a日\nB', 'b', 1, 1, 'i'), regexp_instr(x, y) FROM (VALUES ('xab', 'b$')) AS v(x, y)", [[4n, 3n]]],
  [
    "SELECT regexp_count('abcabc', 'abc'), regexp_count('abcabc', 'abc', 2), regexp_count('ABCabc', 'abc', 1, 'i'), regexp_count('aaaa', 'aa')",
    [[2n, 1n, 2n, 2n]],
  ],
  [
    "SELECT regexp_count('abc', ''), regexp_count('', 'a'), regexp_count('日本日', '日', 2), regexp_count('abc', 'c', 10), regexp_count(NULL, 'a')",
    [[0n, 0n, 1n, 0n, null]],
  ],
  ["SELECT regexp_count('abc', 'b', 0)", new Error("counted from 1")],
  [
    "SELECT regexp_count(room, 'i'), regexp_count(room, '[a-z]') FROM home GROUP BY room ORDER BY room",
    [
      [1n, 6n],
      [2n, 8n],
    ],
  ],
  [
    "SELECT regexp_match('abc', 'b'), regexp_match('foobarbequebaz', '(bar)(beque)'), regexp_match('abc', 'x'), regexp_match(NULL, 'a')",
    [[["b"], ["bar", "beque"], null, null]],
  ],
  [
    "SELECT regexp_match('foobarbequebaz', 'ba.'), regexp_match('ABC', 'b', 'i'), regexp_match('2024-01-02', '(\\d+)-(\\d+)-(\\d+)')",
    [[["bar"], ["B"], ["2024", "01", "02"]]],
  ],
  // a group that took no part is left out
  [
    "SELECT regexp_match('5', '(\\d+)(\\.\\d+)?'), regexp_match('5.5', '(\\d+)(\\.\\d+)?'), regexp_match('ab', '(a)|(x)'), regexp_match('b', '(a*)b')",
    [[["5"], ["5", ".5"], ["a"], [""]]],
  ],
  ["SELECT regexp_match('x=1', '(\\w)=(\\d)')[2]", [["1"]]],
  [
    "SELECT regexp_replace('foobarbaz', 'b..', 'X'), regexp_replace('foobarbaz', 'b..', 'X', 'g'), regexp_replace('fooBarBaz', 'b', 'x', 'gi')",
    [["fooXbaz", "fooXX", "fooxarxaz"]],
  ],
  [
    "SELECT regexp_replace('foobarbaz', 'b(..)', 'X\\1Y', 'g'), regexp_replace('abc', '(b)', '[$1]'), regexp_replace('abc', 'b', '<$0>')",
    [["fooXarYXazY", "a[b]c", "a<b>c"]],
  ],
  [
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a group's name in the dialect
    "SELECT regexp_replace('abc', '(?P<x>b)', '<${x}>'), regexp_replace('abc', '(?<x>b)', '${x}${x}'), regexp_replace('x', 'x', '$$'), regexp_replace('abc', 'b', '$9')",
    [["a<b>c", "abbc", "$", "ac"]],
  ],
  [
    "SELECT regexp_replace('Thomas', '.[mN]a.', 'M'), regexp_replace('a b  c', '\\s+', ' ', 'g'), regexp_replace('abc', '', '-', 'g')",
    [["ThM", "a b c", "-a-b-c-"]],
  ],
  ["SELECT regexp_replace(room, '(\\w+) (\\w+)', '$2 $1') FROM home GROUP BY room ORDER BY room", [["Kitchen"], ["Room Living"]]],
  ["SELECT regexp_replace('abc', 'b', NULL), regexp_replace('abc', NULL, 'x'), regexp_replace(NULL, 'b', 'x')", [[null, null, null]]],
  // patterns, flags and replacements that are no constants
  [
    `SELECT regexp_match(x, p), regexp_like(x, p), regexp_count(x, p), regexp_replace(x, p, r)
     FROM (VALUES ('foobar', 'o+', '<$0>'), ('abc', '(a)(b)', '$2$1'), ('abc', 'x', 'y'), ('A', '(?P<n>\\w)', '\${n}\${n}'), (NULL, 'a', 'b')) AS v(x, p, r)`,
    [
      [["oo"], true, 1n, "f<oo>bar"],
      [["a", "b"], true, 1n, "bac"],
      [null, false, 0n, "abc"],
      [["A"], true, 1n, "AA"],
      [null, null, null, null],
    ],
  ],
  ["SELECT regexp_replace('aXbX', 'x', '-', f) FROM (VALUES ('gi'), ('i'), ('g')) AS v(f)", [["a-b-"], ["a-bX"], ["aXbX"]]],
];

const SYNTAX: readonly SqlCase[] = [
  // \d, \w and \s mean what Unicode means
  [
    "SELECT regexp_like('٣', '^\\d$'), regexp_like('é', '^\\w$'), regexp_like(chr(160), '^\\s$'), regexp_like('é', '\\W'), regexp_like('a_1', '^[\\w]+$')",
    [[true, true, true, false, true]],
  ],
  [
    "SELECT regexp_like(E'a\\nb', 'a.b'), regexp_like(E'a\\nb', 'a.b', 's'), regexp_like(E'a\\nb', '^b'), regexp_like(E'a\\nb', '^b', 'm')",
    [[false, true, false, true]],
  ],
  [
    "SELECT regexp_like('aXbc', 'a x b # comment', 'ix'), regexp_like('abc', '(?i)B'), regexp_like('abc', '(?i:B)C'), regexp_like('ab', '(?x) a b')",
    [[true, true, false, true]],
  ],
  [
    "SELECT regexp_like('b', '[a-c&&[^b]]'), regexp_like('c', '[a-c&&[^b]]'), regexp_like('b', '[a-c--b]'), regexp_like('a', '[a-c--b]'), regexp_like('d', '[[a-b][d]]')",
    [[false, true, false, true, true]],
  ],
  [
    "SELECT regexp_like('é', '^[\\w&&[^a-z]]$'), regexp_like('a', '^[\\w&&[^a-z]]$'), regexp_like('x', '[\\s\\S]'), regexp_like('!', '^[^\\W]$'), regexp_like('b', '[a-c~~b-d]')",
    [[true, false, true, false, false]],
  ],
  [
    "SELECT regexp_like('a', '[[:alpha:]]'), regexp_like('1', '[[:^alpha:]]'), regexp_like(']', '[]a]'), regexp_like('-', '[a-]')",
    [[true, true, true, true]],
  ],
  [
    "SELECT regexp_like('É', 'é', 'i'), regexp_like('α', '\\p{Greek}'), regexp_like('日', '\\pL'), regexp_like('a', '\\p{Letter}'), regexp_like('a', '\\P{Lu}')",
    [[true, true, true, true, true]],
  ],
  [
    "SELECT regexp_like('a', '\\x61'), regexp_like('a', '\\x{61}'), regexp_like('a', '\\u0061'), regexp_like('a', '\\U00000061'), regexp_like('a', '\\u{61}')",
    [[true, true, true, true, true]],
  ],
  [
    "SELECT regexp_like('aaa', '^a{3}$'), regexp_like('aa', '^a{,3}$'), regexp_like('ab', '\\bab\\b'), regexp_like('a.b', 'a\\.b'), regexp_like('a/b', 'a\\/b')",
    [[true, true, true, true, true]],
  ],
  ["SELECT regexp_like('abc', 'a(?=b)')", new Error("look-around")],
  ["SELECT regexp_like('aa', '(a)\\1')", new Error("backreferences are not supported")],
  ["SELECT regexp_like('a', '[a')", new Error("unclosed character class")],
  ["SELECT regexp_like('a', '\\Qa')", new Error("unrecognized escape sequence")],
  ["SELECT regexp_like('a', repeat('(', 400))", new Error("deep")],
  ["SELECT regexp_like('a', '(((((((((((a{100}){100}){100}){100}){100}){100}){100}){100}){100}){100}){100})')", new Error("repetition")],
];

sqlSuite("operators for regular expressions", OPERATORS);
sqlSuite("functions of regular expressions", FUNCTIONS);
sqlSuite("syntax of regular expressions", SYNTAX);
