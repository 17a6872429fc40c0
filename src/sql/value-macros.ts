// Macros for what functions of values mean in the dialect and not in DuckDB; see macros.ts for how macros work.
// DuckDB computes a branch of CASE only for the rows that take it, so a branch may be what would be an error elsewhere.

/** Errors carry the vendor's own prefix (engine-error.ts). */
const MATH: readonly string[] = [
  "CREATE MACRO __divisor(n) AS CASE WHEN n = 0 THEN error('Arrow error: Divide by zero error') ELSE n END",
  // IEEE 754: DuckDB refuses what has no finite value
  "CREATE MACRO __sqrt(x) AS CASE WHEN x >= 0 THEN sqrt(x) WHEN x < 0 THEN 'nan'::DOUBLE END",
  "CREATE MACRO __ln(x) AS CASE WHEN x > 0 THEN ln(x) WHEN x = 0 THEN '-inf'::DOUBLE WHEN x < 0 THEN 'nan'::DOUBLE END",
  "CREATE MACRO __log2(x) AS CASE WHEN x > 0 THEN log2(x) WHEN x = 0 THEN '-inf'::DOUBLE WHEN x < 0 THEN 'nan'::DOUBLE END",
  "CREATE MACRO __log10(x) AS CASE WHEN x > 0 THEN log10(x) WHEN x = 0 THEN '-inf'::DOUBLE WHEN x < 0 THEN 'nan'::DOUBLE END",
  `CREATE MACRO __log(base, x) AS "/"(__ln(x), __ln(base))`,
  "CREATE MACRO __acos(x) AS CASE WHEN abs(x) > 1 THEN 'nan'::DOUBLE ELSE acos(x) END",
  "CREATE MACRO __asin(x) AS CASE WHEN abs(x) > 1 THEN 'nan'::DOUBLE ELSE asin(x) END",
  "CREATE MACRO __atanh(x) AS CASE WHEN abs(x) > 1 THEN 'nan'::DOUBLE ELSE atanh(x) END",
  "CREATE MACRO __sin(x) AS CASE WHEN abs(x) = 'inf'::DOUBLE THEN 'nan'::DOUBLE ELSE sin(x) END",
  "CREATE MACRO __cos(x) AS CASE WHEN abs(x) = 'inf'::DOUBLE THEN 'nan'::DOUBLE ELSE cos(x) END",
  "CREATE MACRO __tan(x) AS CASE WHEN abs(x) = 'inf'::DOUBLE THEN 'nan'::DOUBLE ELSE tan(x) END",
  `CREATE MACRO __cot(x) AS CASE WHEN x = 0 THEN "/"(1e0, x) WHEN abs(x) = 'inf'::DOUBLE THEN 'nan'::DOUBLE ELSE cot(x) END`,
  // a cube's root to its last digit
  "CREATE MACRO __cbrt(x) AS CASE WHEN pow(round(cbrt(x)), 3) = x THEN round(cbrt(x)) ELSE cbrt(x) END",
  "CREATE MACRO __signum(x) AS CASE WHEN isnan(x) THEN 'nan'::DOUBLE ELSE CAST(sign(x) AS DOUBLE) END",
  "CREATE MACRO __nanvl(x, y) AS CASE WHEN isnan(x) THEN y ELSE x END",
  // as text: 1e20, 1e-7, NaN
  `CREATE MACRO __float_text(x) AS
     CASE WHEN isnan(x) THEN 'NaN' ELSE regexp_replace(CAST(x AS VARCHAR), 'e([+]|(-))0?', 'e\\2') END`,
  // a text that is a whole number; DuckDB would round others
  `CREATE MACRO __whole(s, type) AS
     CASE WHEN regexp_full_match(s, '\\s*[+-]?[0-9]+\\s*') THEN s
          ELSE error('Arrow error: Cast error: Cannot cast string ''' || left(s, 100) || ''' to value of ' || type || ' type') END`,
];

export const VALUE_MACROS: readonly string[] = [...MATH];
