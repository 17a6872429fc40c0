// How strongly the operators of the dialect bind; DuckDB's grammar has another order for some of them (operator-groups.ts).

/** Binding powers of operators in the vendor's parser. */
export const BINDS = {
  or: 5,
  and: 10,
  not: 15,
  arrow: 16,
  is: 17,
  like: 19,
  between: 20,
  bitOr: 21,
  bitXor: 22,
  bitAnd: 23,
  xor: 24,
  sum: 30,
  product: 40,
  zone: 41,
  cast: 50,
  field: 100,
} as const;
