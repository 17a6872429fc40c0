// Hashes and binary data as text. Hashes come from Python's hashlib and, BLAKE3, from the vendor's engine; binary data is compared in hex.
import { type SqlCase, sqlSuite } from "../support/sql/sql-suite.ts";

/** Of "hello". */
const HELLO = {
  md5: "5d41402abc4b2a76b9719d911017c592",
  sha224: "ea09ae9cc6768c50fcee903ed054556e5bfc8347907f12598aa24193",
  sha256: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
  sha384: "59e1748777448c69de6b800d7a33bbfb9ff1b463e44354c3553bcdb9c666fa90125a3c79f90397bdf5f6a13de828684f",
  sha512:
    "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043",
  blake2b:
    "e4cfa39a3d37be31c59609e807970799caa68a19bfaa15135f165085e01d41a65ba1e1b146aeb6bd0092b49eac214c103ccfa3a365954bbbe52f74a2b3620c94",
  blake2s: "19213bacc58dee6dbde3ceb9a47cbb330b3d86f8cca8997eb00be456f140ca25",
  blake3: "ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f",
} as const;

const HASHES: readonly SqlCase[] = [
  ["SELECT md5('hello'), md5(''), md5(NULL)", [[HELLO.md5, "d41d8cd98f00b204e9800998ecf8427e", null]]],
  ["SELECT sha224('hello'), sha256('hello')", [[HELLO.sha224, HELLO.sha256]]],
  ["SELECT sha384('hello'), sha512('hello'), sha512(NULL)", [[HELLO.sha384, HELLO.sha512, null]]],
  ...Object.entries(HELLO).map(([name, hash]): SqlCase => [`SELECT digest('hello', '${name}')`, [[hash]]]),
  ["SELECT digest('hello', 'SHA512')", [[HELLO.sha512]]],
  ["SELECT digest('hello', 'foo')", new Error("There is no built-in digest algorithm named 'foo'")],
  ["SELECT md5('ü'), sha224('ü')", [["c03410a5204b21cd8229ff754688d743", "5dcf29eed5ce7989b00d63f0ae5a71654f016579be5b1035c9fd527f"]]],
  [
    "SELECT sha256(decode('00ff', 'hex')), sha512(decode('00ff', 'hex'))",
    [
      [
        "06eb7d6a69ee19e5fbdf749018d3d2abfa04bcbd1365db312eb86dc7169389b8",
        "fb9c0429487655082fe197f64eb8f045a706a4a5de8817478ee3ab47e208c27fd87502458026613794e69b0d1b3fc6916456754bd08088422144503682db5986",
      ],
    ],
  ],
  [
    "SELECT sha224(room) FROM home GROUP BY room ORDER BY room",
    [["85af66b7ccd984b6684535167f817c283f928ace398de166d5e41319"], ["968872e9906c48f5382aa0c05e3a203b37132185c69c4d2c88b59b6a"]],
  ],
  [
    "SELECT digest(x, a) FROM (VALUES ('hello', 'md5'), (NULL, 'sha512'), ('hello', 'blake2s')) AS v(x, a)",
    [[HELLO.md5], [null], [HELLO.blake2s]],
  ],
  ["SELECT encode(digest('hello', 'sha384'), 'hex'), arrow_typeof(digest('hello', 'sha384'))", [[HELLO.sha384, "Binary"]]],
  // BLAKE3 over one chunk, just under, exactly one, two, and a tree of chunks
  ["SELECT digest(repeat('abc', 1000), 'blake3')", [["5d392719c4f44790536b56909c3499d92a856154b8e8a6a2cba4662d3b473990"]]],
  ["SELECT digest(repeat('abc', 341), 'blake3')", [["a71ca16d49944076ceb0013e93a804d11a6227e011889b7a71c1f49e9815eb3b"]]],
  ["SELECT digest(repeat('abcd', 256), 'blake3')", [["1913be5b8328ba32db70a3f5435e3103b5816b06491a36b948f1f7d29191b177"]]],
  ["SELECT digest(repeat('abcd', 512), 'blake3')", [["916e101f75a1f6e8d5485d1d983d804051f6b92fff635c2b2f5282864f51853b"]]],
  ["SELECT digest(repeat('abcd', 5000), 'blake3')", [["d8f1dac704850952926c68a5ede3d3651aa1d03929475ed25e8c3238d9840250"]]],
];

const ENCODINGS: readonly SqlCase[] = [
  [
    "SELECT encode('hello', 'hex'), encode('hello', 'base64'), encode('hello', 'base64pad'), encode('', 'hex')",
    [["68656c6c6f", "aGVsbG8", "aGVsbG8=", ""]],
  ],
  [
    "SELECT encode('hello world?>', 'base64'), encode(sha256('hello'), 'hex'), encode(NULL, 'hex')",
    [["aGVsbG8gd29ybGQ/Pg", HELLO.sha256, null]],
  ],
  [
    "SELECT decode('68656c6c6f', 'hex'), decode('aGVsbG8', 'base64'), decode('aGVsbG8=', 'base64'), decode('', 'base64')",
    [["68656c6c6f", "68656c6c6f", "68656c6c6f", ""]],
  ],
  [
    "SELECT decode('YQ', 'base64'), decode('YWI', 'base64'), decode('YWJj', 'base64'), decode(NULL, 'hex')",
    [["61", "6162", "616263", null]],
  ],
  ["SELECT decode('68656c6c6f', 'hex')::varchar, decode('68656c6c6f', 'hex')::varchar = 'hello'", [["hello", true]]],
  ["SELECT encode(room, 'hex') FROM home GROUP BY room ORDER BY room", [["4b69746368656e"], ["4c6976696e6720526f6f6d"]]],
  ["SELECT decode('zz', 'hex')", new Error("Failed to decode value using hex")],
  ["SELECT decode('a', 'base64')", new Error("Failed to decode value using base64")],
  ["SELECT encode('hello', 'foo')", new Error("There is no built-in encoding named 'foo'")],
];

sqlSuite("hashes", HASHES);
sqlSuite("encodings", ENCODINGS);
