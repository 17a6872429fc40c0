// Stricter forms of functions whose result size depends on row values: what one row may request must be affordable for a chunk of 2,048
// rows.
import { ROW_LIST_LENGTH, ROW_TEXT_BYTES, SHORT_TEXT_BYTES } from "./size-rules.ts";

const tooLong = (most: number): string =>
  `error('Resources exhausted: a value of more than ${most} bytes or elements, of a size that comes from rows')`;

const FAR_APART = "CAST(error('Execution error: the texts are too long for levenshtein') AS INTEGER)";

export const BOUNDED_MACROS: readonly string[] = [
  // members by subscripts: in HAVING, DuckDB takes `x.n` for a column
  // the argument is mentioned once, whatever it is
  `CREATE MACRO __short_text(s) AS
     list_transform([s], lambda x: CASE WHEN strlen(x) > ${SHORT_TEXT_BYTES} THEN ${tooLong(SHORT_TEXT_BYTES)} ELSE x END)[1]`,
  `CREATE MACRO __row_length(n) AS
     list_transform([n], lambda x: CASE WHEN x > ${ROW_TEXT_BYTES} THEN CAST(${tooLong(ROW_TEXT_BYTES)} AS BIGINT) ELSE x END)[1]`,
  `CREATE MACRO __row_size(n) AS
     list_transform([n], lambda x: CASE WHEN x > ${ROW_LIST_LENGTH} THEN CAST(${tooLong(ROW_LIST_LENGTH)} AS BIGINT) ELSE x END)[1]`,
  `CREATE MACRO __short_repeat(s, n) AS
     list_transform([{'s': s, 'n': n}], lambda x: repeat(x['s'], CASE WHEN strlen(x['s']) * x['n'] > ${ROW_TEXT_BYTES} THEN CAST(${tooLong(ROW_TEXT_BYTES)} AS BIGINT) ELSE x['n'] END))[1]`,
  `CREATE MACRO __short_step(a, b, step) AS
     list_transform(
       [{'a': a, 'b': b, 'step': step}],
       lambda x: CASE WHEN x['step'] = 0 THEN error('Execution error: step can''t be 0')
                      WHEN (CAST(x['b'] AS HUGEINT) - x['a']) // x['step'] > ${ROW_LIST_LENGTH} THEN CAST(${tooLong(ROW_LIST_LENGTH)} AS BIGINT)
                      ELSE x['step'] END)[1]`,
  `CREATE MACRO __if_row_bounded(n, result) AS CASE WHEN n > ${ROW_LIST_LENGTH} THEN ${tooLong(ROW_LIST_LENGTH)} ELSE result END`,
  // they take as many steps as the product of the lengths
  `CREATE MACRO __short_levenshtein(a, b) AS
     list_transform([{'a': a, 'b': b}], lambda x: CASE WHEN strlen(x['a']) * strlen(x['b']) > 262144 THEN ${FAR_APART} ELSE __levenshtein_of(x['a'], x['b']) END)[1]`,
  `CREATE MACRO __short_damerau(a, b) AS
     list_transform([{'a': a, 'b': b}], lambda x: CASE WHEN strlen(x['a']) * strlen(x['b']) > 262144 THEN ${FAR_APART} ELSE __damerau(x['a'], x['b']) END)[1]`,
  "CREATE MACRO __short_range(a, b, step) AS range(a, b, __short_step(a, b, step))",
  "CREATE MACRO __short_series(a, b, step) AS generate_series(a, b, __short_step(a, b, step))",
];
