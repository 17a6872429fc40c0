// SHOW statements of the differential suite, and a request with several statements.

const PARTS = {
  on: ["", "ON diff", "ON other", "ON empty", "ON nowhere"],
  from: ["", "FROM cpu", "FROM cpu, mem", "FROM /c/", "FROM missing"],
  where: [
    "",
    "WHERE host = 'a'",
    "WHERE host != 'a'",
    "WHERE host =~ /a|b/",
    "WHERE region = ''",
    "WHERE nothing = 'x'",
    "WHERE host = 'nothing'",
  ],
  limit: ["", "LIMIT 1", "LIMIT 2 OFFSET 1"],
} as const;

/** Each part varies while the others rest. */
function varied(statement: string, parts: readonly (keyof typeof PARTS)[], rest: readonly string[] = []): string[] {
  const one = (part: keyof typeof PARTS) => PARTS[part].map((text) => `${statement} ${text}`.trim());
  return [...new Set([...parts.flatMap(one), ...rest.map((text) => `${statement} ${text}`.trim())])];
}

export const SHOWS: readonly string[] = [
  "SHOW DATABASES",
  "SHOW RETENTION POLICIES",
  "SHOW RETENTION POLICIES ON diff",
  "SHOW RETENTION POLICIES ON other",
  "SHOW RETENTION POLICIES ON nowhere",
  ...varied(
    "SHOW MEASUREMENTS",
    ["on", "where", "limit"],
    [
      "WITH MEASUREMENT = cpu",
      "WITH MEASUREMENT =~ /m/",
      "WITH MEASUREMENT = missing",
      "WITH MEASUREMENT =~ /m/ WHERE host = 'd'",
      "ORDER BY time DESC",
    ],
  ),
  ...varied("SHOW SERIES", ["on", "from", "where", "limit"], ["FROM cpu WHERE host = 'a' OR region = 'us'", "FROM weather LIMIT 1"]),
  ...varied("SHOW TAG KEYS", ["on", "from", "where", "limit"], ["FROM cpu SLIMIT 1", "SLIMIT 1", "SLIMIT 2 SOFFSET 1", "FROM cpu LIMIT 1"]),
  ...varied("SHOW FIELD KEYS", ["on", "from", "limit"], ["FROM cpu LIMIT 2", "FROM cpu LIMIT 2 OFFSET 3", "FROM diff.short.cpu"]),
  ...varied("SHOW TAG VALUES WITH KEY = host", ["where", "limit"]),
  ...varied("SHOW TAG VALUES FROM cpu WITH KEY = host", ["where", "limit"]),
  ...["host", "region", "nothing"].map((key) => `SHOW TAG VALUES WITH KEY = ${key}`),
  "SHOW TAG VALUES ON other WITH KEY = host",
  "SHOW TAG VALUES ON nowhere WITH KEY = host",
  "SHOW TAG VALUES WITH KEY IN (host, region)",
  "SHOW TAG VALUES WITH KEY IN (host, nothing) LIMIT 2",
  "SHOW TAG VALUES WITH KEY != host",
  "SHOW TAG VALUES WITH KEY =~ /o/",
  "SHOW TAG VALUES WITH KEY !~ /o/",
  'SHOW TAG VALUES WITH KEY = "tag key"',
  "SHOW TAG VALUES FROM /m/ WITH KEY = host",
  "SHOW TAG VALUES FROM cpu WITH KEY IN (host, region) WHERE region = 'eu'",
  "SHOW TAG VALUES FROM missing WITH KEY = host",
  "SHOW TAG VALUES WITH KEY = host ORDER BY time DESC",
  "SHOW SERIES CARDINALITY ON diff",
  "SHOW SERIES EXACT CARDINALITY",
  "SHOW SERIES EXACT CARDINALITY FROM cpu",
  "SHOW SERIES EXACT CARDINALITY FROM cpu, mem",
  "SHOW SERIES EXACT CARDINALITY WHERE host = 'a'",
  "SHOW MEASUREMENT CARDINALITY ON diff",
  "SHOW MEASUREMENT EXACT CARDINALITY",
  "SHOW MEASUREMENT EXACT CARDINALITY FROM /m/",
  "SHOW TAG KEY CARDINALITY",
  "SHOW TAG KEY EXACT CARDINALITY",
  "SHOW TAG KEY EXACT CARDINALITY FROM cpu",
  "SHOW FIELD KEY CARDINALITY",
  "SHOW FIELD KEY EXACT CARDINALITY FROM cpu",
  "SHOW TAG VALUES CARDINALITY WITH KEY = host",
  "SHOW TAG VALUES EXACT CARDINALITY WITH KEY = host",
  "SHOW TAG VALUES EXACT CARDINALITY FROM cpu WITH KEY IN (host, region)",
  // of series without the tag, no comparison is true
  ...["!~ /us/", "!= 'us'", "= ''", "=~ /^$/", "!~ /us/ OR host = 'a'", "!= 'eu' AND host != 'b'"].map(
    (condition) => `SHOW TAG VALUES CARDINALITY WITH KEY = host WHERE region ${condition}`,
  ),
  "SHOW TAG VALUES CARDINALITY FROM mem WITH KEY = host WHERE region !~ /us/",
  "SHOW TAG VALUES EXACT CARDINALITY WITH KEY IN (host, region) WHERE region != 'us'",
  "SHOW TAG VALUES CARDINALITY WITH KEY = host WHERE nothing != 'x'",
  "SHOW TAG VALUES CARDINALITY WITH KEY = host WHERE usage = 1",
  "SHOW SUBSCRIPTIONS",
  "SHOW MEASUREMENTS; SHOW DATABASES",
  "SHOW TAG KEYS FROM missing; SHOW FIELD KEYS FROM missing",
];
