// The border between src/kernel and assembly: plain integer constants that both compilers read. Little-endian throughout.
// Nothing here may be reordered once it has reached disk (types) or a test fixture.

// Column types, the same numbers as src/model/rows/column.ts.
export const TYPE_TIME = 0;
export const TYPE_TAG = 1;
export const TYPE_FLOAT = 2;
export const TYPE_INTEGER = 3;
export const TYPE_UNSIGNED = 4;
export const TYPE_STRING = 5;
export const TYPE_BOOLEAN = 6;

// Precision of timestamps in line protocol.
export const PRECISION_AUTO = 0;
export const PRECISION_NANO = 1;
export const PRECISION_MICRO = 2;
export const PRECISION_MILLI = 3;
export const PRECISION_SECOND = 4;
export const PRECISION_MINUTE = 5;
export const PRECISION_HOUR = 6;

// Whose rules lines of line protocol follow: the vendor's server 3.x, or 2.x.
export const DIALECT_V3 = 0;
export const DIALECT_V2 = 1;

// Line parser (assembly/line). All words are u32 unless said.
// The parser's block begins with the one field the host writes: | receiveTimeNs i64 | private ...
// Result of lineParse: | lineCount | rowCount | tableCount | errorCount | errorsPtr | crowded | end | droppedCount | tables ...
//   errorCount counts the kept errors, at most LINE_ERRORS_KEPT; lineCount - rowCount is the number of bad lines.
export const PARSED_LINE_COUNT = 0;
export const PARSED_ROW_COUNT = 1;
export const PARSED_TABLE_COUNT = 2;
export const PARSED_ERROR_COUNT = 3;
export const PARSED_ERRORS_PTR = 4;
/** Not 0: the parser keeps so many names that most of them must have been rejected; it should be reset. */
export const PARSED_CROWDED = 5;
/** Offset in the body of the first byte that was not read: its length unless parsing stopped after so many tables. */
export const PARSED_END = 6;
/** Of the bad lines, those that can be parsed and are left out. */
export const PARSED_DROPPED_COUNT = 7;
export const PARSED_HEADER_WORDS = 8;
// a table, followed by its columns with a value in this body:
// | index | namePtr | nameBytes | rowCount | seriesPtr | timePtr | lineOffsetsPtr | newSeriesFirst | newSeriesCount | newSeriesRecordsPtr
// | tagCount | tagNamesPtr -> tagCount x (pointer to | namePtr | nameBytes |) | columnCount | columns ...
export const PARSED_TABLE_INDEX = 0;
export const PARSED_TABLE_NAME_PTR = 1;
export const PARSED_TABLE_NAME_BYTES = 2;
export const PARSED_TABLE_ROW_COUNT = 3;
export const PARSED_TABLE_SERIES_PTR = 4;
export const PARSED_TABLE_TIME_PTR = 5;
export const PARSED_TABLE_LINES_PTR = 6;
export const PARSED_TABLE_NEW_FIRST = 7;
export const PARSED_TABLE_NEW_COUNT = 8;
export const PARSED_TABLE_NEW_RECORDS_PTR = 9;
export const PARSED_TABLE_TAG_COUNT = 10;
export const PARSED_TABLE_TAG_NAMES_PTR = 11;
export const PARSED_TABLE_COLUMN_COUNT = 12;
export const PARSED_TABLE_WORDS = 13;
// a column: | index | namePtr | nameBytes | type | dataPtr | validityPtr | presentCount |
export const PARSED_COLUMN_INDEX = 0;
export const PARSED_COLUMN_NAME_PTR = 1;
export const PARSED_COLUMN_NAME_BYTES = 2;
export const PARSED_COLUMN_TYPE = 3;
export const PARSED_COLUMN_DATA_PTR = 4;
export const PARSED_COLUMN_VALIDITY_PTR = 5;
export const PARSED_COLUMN_PRESENT = 6;
export const PARSED_COLUMN_WORDS = 7;
// a bad line: | lineOffset | lineBytes | code | textPtr | textBytes | detail (column type, or byte offset in the line) |
export const LINE_ERROR_OFFSET = 0;
export const LINE_ERROR_BYTES = 1;
export const LINE_ERROR_CODE = 2;
export const LINE_ERROR_TEXT_PTR = 3;
export const LINE_ERROR_TEXT_BYTES = 4;
export const LINE_ERROR_DETAIL = 5;
export const LINE_ERROR_WORDS = 6;
/** Errors described per body; later bad lines are only counted. */
export const LINE_ERRORS_KEPT = 100;
/** Tags and fields of one line: a table's most columns, `time` not counted. */
export const LINE_COLUMNS_MAX = 4095;
/** Field columns that a parser keeps for a table, by name and type: lines with further ones are bad until it is reset. */
export const LINE_KEPT_COLUMNS_MAX = 8192;
/** Rows times fields of a table in one body, where it has more than LINE_CELLS_COLUMNS fields: of each cell a bit is kept, also of those
 *  that no line has, and lines of one field would cost as much as lines of thousands. */
export const LINE_CELLS_MAX = 1 << 28;
export const LINE_CELLS_COLUMNS = 512;
/** Tables that a parser keeps: lines of further ones are bad until it is reset. */
export const LINE_KEPT_TABLES_MAX = 1 << 16;
/** Tables that one body may have rows of. */
export const LINE_BODY_TABLES_MAX = 10_000;
/** Bytes of one name, tag value or string value. */
export const LINE_STRING_BYTES_MAX = 1 << 20;
/** Readable bytes that must follow a body, the first of them writable: wide loads run past its end. */
export const LINE_BODY_PADDING = 64;
export const LINE_BAD_TABLE_NAME = 1;
export const LINE_BAD_ENDS_WITH_BACKSLASH = 2;
export const LINE_BAD_STRING_TOO_LONG = 3;
export const LINE_BAD_UTF8 = 4;
export const LINE_BAD_TAG_KEY = 5;
export const LINE_BAD_TAG_VALUE = 6;
export const LINE_BAD_NO_EQUALS_SIGN = 7;
export const LINE_BAD_NO_SPACE = 8;
export const LINE_BAD_NO_FIELDS = 9;
export const LINE_BAD_INTEGER = 10;
export const LINE_BAD_UNSIGNED = 11;
export const LINE_BAD_FLOAT = 12;
export const LINE_BAD_TIMESTAMP = 13;
export const LINE_BAD_TRAILING = 14;
export const LINE_BAD_DUPLICATE_TAG = 15;
export const LINE_BAD_DUPLICATE_FIELD = 16;
export const LINE_BAD_RESERVED = 17;
/** One name with two types. detail: the earlier type << 8 | the later one. */
export const LINE_BAD_OTHER_TYPE = 18;
export const LINE_BAD_TIME_RANGE = 19;
export const LINE_BAD_TOO_MANY_COLUMNS = 20;
export const LINE_BAD_TOO_MANY_TABLES = 21;
/** Of DIALECT_V2: any other mistake. */
export const LINE_BAD_SYNTAX = 22;
export const LINE_BAD_TOO_MANY_CELLS = 23;
// Of DIALECT_V2: lines that can be parsed and are left out, the others are stored; from LINE_DROPPED on. So are those with too many names.
export const LINE_DROPPED = 32;
/** detail: the text's bytes. */
export const LINE_DROP_STRING_TOO_LONG = 32;
export const LINE_DROP_TIME_FIELD = 33;
/** detail: the earlier type << 8 | the later one. */
export const LINE_DROP_DUPLICATE_FIELD = 34;
export const LINE_DROP_TAG_AND_FIELD = 35;
/** Bytes of table name and tags as written, with a field's name and 4 more. */
export const LINE_V2_KEY_BYTES_MAX = 65535;

// Where a segment of the buffer takes rows of known shape (assembly/line/known-rows.ts), u32 each:
//   | seriesPtr | timePtr | columnCount | columnCount x | columnId | dataPtr | validityPtr, 0 = all rows have it | |
// Values are 8 bytes wide, or booleans. All pointers are those of row 0.
export const APPEND_SERIES_PTR = 0;
export const APPEND_TIME_PTR = 4;
export const APPEND_COLUMN_COUNT = 8;
export const APPEND_HEADER_BYTES = 12;
export const APPEND_COLUMN_BYTES = 12;

// A string view is DuckDB's string_t, 16 bytes:
//   | byteLength u32 | 12 bytes of text, zero padded            |  byteLength <= 12
//   | byteLength u32 | first 4 bytes | native address u64        |  longer
// The native address is the kernel memory's base address (set once by setMemoryBase) plus the wasm pointer,
// so a view can be handed to DuckDB as it is and still be followed inside the kernel by subtracting the base.
export const VIEW_BYTES = 16;
export const VIEW_INLINE_MAX = 12;

// Column codec (assembly/codec). These numbers are on disk: never reordered, never reused.
/** A column of u32: series ids, codes, row offsets. Only the codec knows it. */
export const TYPE_U32 = 7;
export const INTS_PLAIN = 1;
export const INTS_CONSTANT = 2;
export const INTS_FRAME = 3;
export const INTS_DELTA = 4;
export const INTS_DELTA2 = 5;
export const FLOATS_PLAIN = 16;
export const FLOATS_CONSTANT = 17;
export const FLOATS_ALP = 18;
export const FLOATS_XOR = 19;
export const BITS_PLAIN = 32;
export const BITS_CONSTANT = 33;
export const BITS_RUNS = 34;
export const STRINGS_PLAIN = 48;
export const STRINGS_DICTIONARY = 49;
// An encoded column: | type u8 | 0 u8 | 0 u16 | rowCount u32 | presentCount u32 | payloadBytes u32 | payload |
export const CODEC_HEADER_BYTES = 16;
export const CODEC_ROW_COUNT = 4;
export const CODEC_PRESENT_COUNT = 8;
export const CODEC_PAYLOAD_BYTES = 12;
/** The encoded bytes are damaged. */
export const CODEC_CORRUPT = -1;

// Row selection (assembly/scan).
// Rows hidden by a deletion: | minTimeNs i64 | maxTimeNs i64 | u32 pointer to a byte per series, not 0 = hidden; 0 = every series | 0 u32 |
export const EXCLUSION_BYTES = 24;
// A column compared with a constant: | kind u32 | negated u32 (0 or 1) | dataPtr u32 | validityPtr u32 | low u64 | span u64 |
//   integers: value - low <= span, unsigned; floats: low is the constant's bits; booleans: bit `value` of low, never negated;
//   texts, never negated: low is a pointer to one view; or low is | views u32 | slots u32 | of a set of them, span its number of slots - 1
// Or integers of fewer bytes (codec/narrow.ts) at dataPtr: low and span are those of the differences.
// Or a program that is true, of any columns: low is a pointer to it
export const PREDICATE_BYTES = 32;
export const PREDICATE_INTEGER = 0;
export const PREDICATE_FLOAT_BELOW = 1;
export const PREDICATE_FLOAT_UP_TO = 2;
export const PREDICATE_FLOAT_EQUAL = 3;
/** Not NaN. */
export const PREDICATE_FLOAT_NUMBER = 4;
export const PREDICATE_BOOLEAN = 5;
export const PREDICATE_TEXT = 6;
export const PREDICATE_TEXTS = 7;
export const PREDICATE_PROGRAM = 8;
/** Memory that a selection with predicates works in. */
export const MATCH_BYTES = 5120;
/** Differences of 1, 2 and 4 bytes. */
export const PREDICATE_NARROW_1 = 9;
export const PREDICATE_NARROW_2 = 10;
export const PREDICATE_NARROW_4 = 11;

// A program that computes a value per row (assembly/expression/program.ts):
// | failed u32 | number of steps u32 | registersPtr u32 | 1 = the result is a truth value u32 |, then
// | step u32 | register u32 | low u64 | high i64 | per step. Its operands are the registers from that one on, its result takes its place.
export const EXPRESSION_HEADER_BYTES = 16;
export const EXPRESSION_STEP_BYTES = 24;
/** A register: | 8 bytes a row | a byte a row, 1 = NULL | u32, not 0 = there may be NULLs | u32, where its values are: here, or in a column
 *  | their bytes u32; 0: a constant | 4 bytes | what is added to integers of fewer bytes than 8 i64 | 8 bytes |; or truth values, a byte
 *  a row, here. */
export const EXPRESSION_ROWS = 1024;
export const EXPRESSION_NULLS = 8192;
export const EXPRESSION_MARK = 9216;
export const EXPRESSION_VALUES = 9220;
export const EXPRESSION_WIDTH = 9224;
export const EXPRESSION_BASE = 9232;
export const EXPRESSION_REGISTER_BYTES = 9248;
export const TRUTH_FALSE = 0;
export const TRUTH_NULL = 1;
export const TRUTH_TRUE = 2;
/** low: | dataPtr u32 | validityPtr u32 | of a column of 8-byte values, or of booleans. */
export const STEP_LOAD = 0;
export const STEP_LOAD_TRUTH = 1;
/** low: a pointer to EXPRESSION_ROWS times its 8 bytes; or its truth value. */
export const STEP_CONSTANT = 2;
export const STEP_CONSTANT_TRUTH = 3;
export const STEP_NULL = 4;
export const STEP_TO_FLOAT = 5;
export const STEP_ABSOLUTE_FLOAT = 6;
export const STEP_ADD_FLOAT = 7;
export const STEP_SUBTRACT_FLOAT = 8;
export const STEP_MULTIPLY_FLOAT = 9;
export const STEP_DIVIDE_FLOAT = 10;
export const STEP_ADD_INTEGER = 11;
export const STEP_SUBTRACT_INTEGER = 12;
export const STEP_MULTIPLY_INTEGER = 13;
export const STEP_LESS_FLOAT = 14;
export const STEP_EQUAL_FLOAT = 15;
export const STEP_LESS_INTEGER = 16;
export const STEP_EQUAL_INTEGER = 17;
export const STEP_AND = 18;
export const STEP_OR = 19;
export const STEP_NOT = 20;
export const STEP_IS_NULL = 21;
export const STEP_IS_NULL_TRUTH = 22;
/** Of three operands: the second where the first is true, otherwise the third. */
export const STEP_CHOOSE = 23;
export const STEP_CHOOSE_TRUTH = 24;
/** Of a column of integers in 1, 2 or 4 bytes: low as in STEP_LOAD, high: what is added to each. */
export const STEP_LOAD_NARROW_1 = 25;
export const STEP_LOAD_NARROW_2 = 26;
export const STEP_LOAD_NARROW_4 = 27;

// Rows as text (assembly/text). All words are u32.
// | rowCount | columnCount | columnsPtr | style | skipsNulls | startPtr | startBytes | endPtr | endBytes | nullPtr | nullBytes | powersPtr
// | fixedBytesMax | nextRow | outEnd | infinite | 16 bytes of the kernel |; every text but that of views has 15 bytes to spare behind it
export const TEXT_ROWS_WORDS = 20;
export const TEXT_ROWS_NEXT = 13;
export const TEXT_ROWS_END = 14;
/** A float that the style cannot write was met: 1 = +Inf, 2 = -Inf; else 0. */
export const TEXT_ROWS_INFINITE = 15;
// styles
export const TEXT_JSON = 0;
export const TEXT_CSV = 1;
export const TEXT_V1_JSON = 2;
export const TEXT_V1_CSV = 3;
/** Annotated CSV: strings are copied as they are. */
export const TEXT_FLUX_CSV = 4;
// a column: | kind | valuesPtr | validityPtr, 0 = all present | dataPtr | labelPtr | labelBytes | what its writer keeps: 56 bytes |
//   times begin with | units in a second u64 | digits of a unit u32 | 0 u32 |, floats with | decimals to try first u32 | 0 u32 |,
//   times as numbers with | divisor u64 |
export const TEXT_COLUMN_BYTES = 80;
export const TEXT_COLUMN_STATE = 6;
export const TEXT_INTEGER = 0;
export const TEXT_UNSIGNED = 1;
export const TEXT_INTEGER_32 = 2;
export const TEXT_UNSIGNED_32 = 3;
export const TEXT_FLOAT = 4;
export const TEXT_TIME = 5;
/** A byte a row. */
export const TEXT_BOOLEAN = 6;
/** values: rowCount + 1 u32 offsets into data. */
export const TEXT_STRING = 7;
/** values: string views. */
export const TEXT_VIEW = 8;
/** A time as a number: i64, divided towards zero. */
export const TEXT_EPOCH = 9;
/** Bytes of any value but a string, with the blocks it is written in. */
export const TEXT_VALUE_BYTES_MAX = 96;
/** The same for a float without exponent: 17 digits behind 323 zeros, a sign and a point. */
export const TEXT_PLAIN_FLOAT_BYTES_MAX = 384;
// Unification of sorted lists (assembly/store).
/** A list is not in strictly ascending order; signed, as calls return it. */
export const UNIFY_UNORDERED = -1;

// The first 1 MiB of memory belongs to the compiler's static data; no allocation lies below it.
export const HEAP_START = 1 << 20;
/** Random keys of hashes (assembly/memory/hash.ts), the end of it: 16 bytes for each of more tags than a row can have. */
export const HASH_KEYS_BYTES = 8192;
export const HASH_KEYS = HEAP_START - HASH_KEYS_BYTES;
// Values that groups are told apart by, beside integers of 1, 2, 4 or 8 bytes.
export const VALUES_FLOAT = 0;
export const VALUES_TEXT = 16;
/** Memory for counts of 1,024 values and of absent ones, u32 each, four times. */
export const VALUES_COUNTS_BYTES = 16448;
