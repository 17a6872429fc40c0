"""Builds a line of line protocol; every method but build returns the builder."""

from errors import InvalidKeyError, InvalidLineError, InvalidMeasurementError

_INT64 = 1 << 63
_UINT64 = 1 << 64


def _escaped(text, chars):
    """A backslash too: what follows one in the text would be escaped, or end the text."""
    for char in "\\" + chars:
        text = text.replace(char, "\\" + char)
    return text


def _key(name, what):
    if not isinstance(name, str) or name == "":
        raise InvalidKeyError(f"{what} key must be a text that is not empty, got {name!r}")
    for bad, shown in ((" ", "spaces"), (",", "commas"), ("=", "equals signs"), ("\n", "line breaks"), ("\t", "tabs")):
        if bad in name:
            raise InvalidKeyError(f"{what} key cannot contain {shown}: {name!r}")
    if name.endswith("\\"):
        raise InvalidKeyError(f"{what} key cannot end with a backslash: {name!r}")
    return _escaped(name, "")


def _integer(value, what, key):
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} field {key!r} takes an integer, got {value!r}")
    return value.__index__()


class LineBuilder:
    def __init__(self, measurement):
        if not isinstance(measurement, str) or measurement == "":
            raise InvalidMeasurementError(f"measurement must be a text that is not empty, got {measurement!r}")
        if any(bad in measurement for bad in " \n\t") or measurement.endswith("\\") or measurement.startswith("#"):
            raise InvalidMeasurementError(
                f"measurement cannot contain spaces, tabs or line breaks, begin with # or end with a backslash: {measurement!r}"
            )
        self.measurement = measurement
        self.tags = {}
        self.fields = {}
        self._timestamp_ns = None

    def tag(self, key, value):
        text = str(value)
        if "\n" in text or "\t" in text or text == "" or text.endswith("\\"):
            raise InvalidLineError(f"tag {key!r} cannot be empty, contain tabs or line breaks or end with a backslash: {text!r}")
        self.tags[_key(key, "tag")] = _escaped(text, ",= ")
        return self

    def int64_field(self, key, value):
        number = _integer(value, "int64", key)
        if not -_INT64 <= number < _INT64:
            raise ValueError(f"int64 field {key!r} has 64 bits, got {number}")
        return self._field(key, f"{number}i")

    def uint64_field(self, key, value):
        number = _integer(value, "uint64", key)
        if not 0 <= number < _UINT64:
            raise ValueError(f"uint64 field {key!r} cannot be negative and has 64 bits, got {number}")
        return self._field(key, f"{number}u")

    def float64_field(self, key, value):
        number = float(value)
        if number != number or number in (float("inf"), float("-inf")):
            raise ValueError(f"float64 field {key!r} must be finite, got {number}")
        return self._field(key, repr(number))

    def string_field(self, key, value):
        text = str(value).replace("\\", "\\\\").replace('"', '\\"')
        return self._field(key, f'"{text}"')

    def bool_field(self, key, value):
        return self._field(key, "t" if value else "f")

    def time_ns(self, timestamp_ns):
        if timestamp_ns is None:
            self._timestamp_ns = None
            return self
        number = _integer(timestamp_ns, "time", "time")
        if not -_INT64 <= number < _INT64:
            raise ValueError(f"a time has 64 bits of nanoseconds, got {number}")
        self._timestamp_ns = number
        return self

    def build(self):
        if not self.fields:
            raise InvalidLineError(f"a line needs a field: {self.measurement!r} has none")
        head = [_escaped(self.measurement, ",")] + [f"{key}={value}" for key, value in self.tags.items()]
        line = ",".join(head) + " " + ",".join(f"{key}={value}" for key, value in self.fields.items())
        return line if self._timestamp_ns is None else f"{line} {self._timestamp_ns}"

    def _field(self, key, text):
        self.fields[_key(key, "field")] = text
        return self

    def __str__(self):
        return self.build()


# where plugins find it: pickled builders of a cache are looked up there
LineBuilder.__module__ = "builtins"
