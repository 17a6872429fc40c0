// Kinds of tokens: names as error messages spell them.

export type TokenKind =
  | "EOF"
  | "ILLEGAL"
  | "AND"
  | "OR"
  | "NOT"
  | "IMPORT"
  | "PACKAGE"
  | "RETURN"
  | "OPTION"
  | "BUILTIN"
  | "TESTCASE"
  | "IF"
  | "THEN"
  | "ELSE"
  | "EXISTS"
  | "IDENT"
  | "INT"
  | "FLOAT"
  | "STRING"
  | "REGEX"
  | "TIME"
  | "DURATION"
  | "ADD"
  | "SUB"
  | "MUL"
  | "DIV"
  | "MOD"
  | "POW"
  | "EQ"
  | "LT"
  | "GT"
  | "LTE"
  | "GTE"
  | "NEQ"
  | "REGEXEQ"
  | "REGEXNEQ"
  | "ASSIGN"
  | "ARROW"
  | "LPAREN"
  | "RPAREN"
  | "LBRACK"
  | "RBRACK"
  | "LBRACE"
  | "RBRACE"
  | "COMMA"
  | "DOT"
  | "COLON"
  | "PIPE_FORWARD"
  | "PIPE_RECEIVE"
  | "QUOTE"
  | "STRINGEXPR"
  | "TEXT"
  | "QUESTION_MARK"
  | "ATTRIBUTE";

export const KEYWORDS: ReadonlyMap<string, TokenKind> = new Map([
  ["and", "AND"],
  ["or", "OR"],
  ["not", "NOT"],
  ["import", "IMPORT"],
  ["package", "PACKAGE"],
  ["return", "RETURN"],
  ["option", "OPTION"],
  ["builtin", "BUILTIN"],
  ["testcase", "TESTCASE"],
  ["if", "IF"],
  ["then", "THEN"],
  ["else", "ELSE"],
  ["exists", "EXISTS"],
]);

/** Two characters before one: `<=` is not `<`. */
export const OPERATORS: ReadonlyMap<string, TokenKind> = new Map([
  ["==", "EQ"],
  ["<=", "LTE"],
  [">=", "GTE"],
  ["!=", "NEQ"],
  ["=~", "REGEXEQ"],
  ["!~", "REGEXNEQ"],
  ["=>", "ARROW"],
  ["<-", "PIPE_RECEIVE"],
  ["|>", "PIPE_FORWARD"],
  ["+", "ADD"],
  ["-", "SUB"],
  ["*", "MUL"],
  ["/", "DIV"],
  ["%", "MOD"],
  ["^", "POW"],
  ["<", "LT"],
  [">", "GT"],
  ["=", "ASSIGN"],
  ["(", "LPAREN"],
  [")", "RPAREN"],
  ["[", "LBRACK"],
  ["]", "RBRACK"],
  ["{", "LBRACE"],
  ["}", "RBRACE"],
  [":", "COLON"],
  [",", "COMMA"],
  [".", "DOT"],
  ["?", "QUESTION_MARK"],
]);

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  /** UTF-16 offsets, end exclusive. */
  readonly from: number;
  readonly to: number;
  /** Where its comments and the space before it begin. */
  readonly scannedFrom: number;
  /** Comments between the token before and this one. */
  readonly comments: readonly string[];
}
