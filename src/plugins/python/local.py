"""The object that a plugin's function gets first: log, query, write, cache."""

import json

from errors import QueryError, WriteError

_LOG_TEXT_MAX = 64 << 10
_INTEGER_MAX = 10**40
CANCELLED = "influxdb3 is shutting down; aborting plugin execution"


class Run:
    """What one call may do, and has done."""

    def __init__(self, head):
        self.database = head["database"]
        self.is_dry = head["dry"]
        self.log_lines_left = head["logLinesMax"]
        self.bytes_left = head["writeBytesMax"]
        self.lines = {}
        self.is_cancelled = False


class Local:
    def __init__(self, link, run, cache):
        self._link = link
        self._run = run
        self.cache = cache

    def info(self, *args):
        self._log("info", args)

    def warn(self, *args):
        self._log("warn", args)

    def error(self, *args):
        self._log("error", args)

    def query(self, query, args=None, database=None):
        self._check()
        if not isinstance(query, str):
            raise TypeError(f"a statement is a text, got {query!r}")
        params = {}
        for name, value in (args or {}).items():
            if not isinstance(name, str) or not (value is None or isinstance(value, (str, int, float, bool))):
                raise TypeError(f"parameters of a statement are texts, numbers, booleans or None, got {name!r}: {value!r}")
            params[name] = _param(value)
        head, data = self._link.ask({"t": "query", "database": database or self._run.database, "statement": query, "params": params})
        self._check()
        if "error" in head:
            raise QueryError(head["error"])
        answer = json.loads(data)
        series = answer["results"][0]["series"][0]
        names, rows = series["columns"], series["values"]
        # NaN and infinite numbers, which JSON has not
        for row, column, text in answer.get("non_finite", ()):
            rows[row][column] = float(text)
        return [dict(zip(names, row)) for row in rows]

    def write(self, line):
        self.write_to_db(self._run.database, line)

    def write_to_db(self, db_name, line):
        self._check()
        _require_database(db_name)
        text = _text_of(line)
        self._run.bytes_left -= len(text) + 1
        if self._run.bytes_left < 0:
            raise MemoryError("the lines that the run holds back are too many; use write_sync, or shorter runs")
        self._run.lines.setdefault(db_name, []).append(text)

    def write_sync(self, line, no_sync=False):
        self.write_sync_to_db(self._run.database, line, no_sync)

    def write_sync_to_db(self, db_name, line, no_sync=False):
        self._check()
        if self._run.is_dry:
            return self.write_to_db(db_name, line)
        _require_database(db_name)
        head, _ = self._link.ask({"t": "write", "database": db_name, "noSync": bool(no_sync)}, _text_of(line))
        self._check()
        if "error" in head:
            raise WriteError(head["error"])
        return None

    def _check(self):
        if self._run.is_cancelled:
            raise KeyboardInterrupt(CANCELLED)

    def _log(self, level, args):
        # also after KeyboardInterrupt: a plugin may say what it leaves undone
        run = self._run
        text = " ".join(str(arg) for arg in args)
        run.log_lines_left -= 1
        if run.log_lines_left > 0:
            if len(text) > _LOG_TEXT_MAX:
                text = f"{text[:_LOG_TEXT_MAX]}… ({len(text)} characters)"
            self._link.send({"t": "log", "level": level, "text": text})
        elif run.log_lines_left == 0:
            self._link.send({"t": "log", "level": "warn", "text": "the run logs too much: further lines are left out"})


def _param(value):
    """Numbers as text: whole floats stay floats, integers keep all digits. Subclasses, as of enum and numpy, may show themselves otherwise."""
    if isinstance(value, float):
        return {"float": float.__repr__(value)}
    if not isinstance(value, int) or isinstance(value, bool):
        return value
    if not -_INTEGER_MAX < value < _INTEGER_MAX:
        raise ValueError(f"an integer of a statement's parameters has at most 40 digits, got one of {value.bit_length()} bits")
    return {"int": int.__repr__(value)}


def end_log(link, run):
    """The run has ended: says how many of its log lines were left out."""
    if run.log_lines_left <= 0:
        link.send({"t": "log", "level": "warn", "text": f"{1 - run.log_lines_left} lines of the run were left out"})


def _require_database(name):
    if not isinstance(name, str) or name == "":
        raise TypeError(f"a database's name is a text, got {name!r}")
    if name == "_internal":
        raise WriteError("plugins do not write to the database _internal")


def _text_of(line):
    text = line.build() if callable(getattr(line, "build", None)) else str(line)
    return text.strip("\n").encode("utf-8", "replace")
