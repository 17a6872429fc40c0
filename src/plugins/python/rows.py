"""Columns of a call -> the rows that a plugin sees: a dict per row, with None where it has no value."""

import array

_CODES = {"float": "d", "integer": "q", "unsigned": "Q", "time": "q"}


class _SparseRow(dict):
    """A row of a table that has more columns. They are not members, because a table may have hundreds; reading one gives None."""

    __slots__ = ()
    absent = frozenset()

    def __missing__(self, key):
        if key in self.absent:
            return None
        raise KeyError(key)

    def __reduce__(self):
        # the type is of one batch: a copy, and what is pickled, is a dict
        return dict, (dict(self),)


def _row_type(absent):
    return type("Row", (_SparseRow,), {"__slots__": (), "absent": frozenset(absent)})


# compiling pays from so many rows on
_COMPILED_ROWS_MIN = 50
_MAKERS_MAX = 1000
_makers = {}
# a table with more cells than this, of which few have a value, gets rows without members for the others
_CELLS_MAX = 1_000_000
_EMPTY_CELLS = 4


def _dicts(names, columns, row_count):
    """A dict per row. A display with constant keys takes a third of the time of dict(zip(names, row))."""
    if row_count < _COMPILED_ROWS_MIN:
        return [dict(zip(names, row)) for row in zip(*columns)]
    maker = _makers.get(names)
    if maker is None:
        if len(_makers) >= _MAKERS_MAX:
            _makers.clear()
        members = ", ".join(f"{name!r}: v{i}" for i, name in enumerate(names))
        targets = "".join(f"v{i}, " for i in range(len(names)))
        maker = _makers[names] = eval(f"lambda columns: [{{{members}}} for {targets}in zip(*columns)]", {})
    return maker(columns)


class _Blob:
    """The parts of a blob, one after the other."""

    def __init__(self, data):
        self._view = memoryview(data)
        self._at = 0

    def take(self, count):
        part = self._view[self._at : self._at + count]
        self._at += count
        return part

    def numbers(self, code, count):
        numbers = array.array(code)
        numbers.frombytes(self.take(count * numbers.itemsize))
        return numbers


def _texts(blob, codes, text_count, text_bytes):
    """`codes`: how many there are; None: the values are the texts themselves."""
    numbers = None if codes is None else blob.numbers("I", codes)
    ends = blob.numbers("I", text_count)
    data = bytes(blob.take(text_bytes))
    texts = []
    start = 0
    for end in ends:
        texts.append(data[start:end].decode("utf-8", "replace"))
        start = end
    return texts if numbers is None else [texts[code] for code in numbers]


def _column(blob, column):
    """Its name, the rows that have a value (None: all), and the values."""
    present = None if column["present"] is None else blob.numbers("I", column["present"])
    kind, count = column["kind"], column["count"]
    if kind == "text":
        values = _texts(blob, column["codes"], column["texts"], column["bytes"])
    elif kind == "boolean":
        values = [byte != 0 for byte in blob.take(count)]
    else:
        values = blob.numbers(_CODES[kind], count)
    return column["name"], present, values


def _filled(present, values, row_count):
    if present is None:
        return values
    filled = [None] * row_count
    for row, value in zip(present, values):
        filled[row] = value
    return filled


def _is_sparse(columns, row_count):
    cells = row_count * len(columns)
    return cells > _CELLS_MAX and cells > _EMPTY_CELLS * sum(len(values) for _, _, values in columns)


def _sparse_rows(columns, row_count, absent):
    """Rows whose members are their values alone."""
    row_type = _row_type([*absent, *(name for name, _, _ in columns)])
    rows = [row_type() for _ in range(row_count)]
    for name, present, values in columns:
        for row, value in zip(range(row_count) if present is None else present, values):
            rows[row][name] = value
    return rows


def _rows(columns, row_count, absent):
    if _is_sparse(columns, row_count):
        return _sparse_rows(columns, row_count, absent)
    names = tuple(name for name, _, _ in columns)
    rows = _dicts(names, [_filled(present, values, row_count) for _, present, values in columns], row_count)
    if not absent:
        return rows
    row_type = _row_type(absent)
    return [row_type(row) for row in rows]


def table_batches(tables, data):
    blob = _Blob(data)
    batches = []
    for table in tables:
        columns = [_column(blob, column) for column in table["columns"]]
        rows = _rows(columns, table["rows"], table["absent"])
        batches.append({"table_name": table["table"], "rows": rows})
    return batches
