"""Builds a line of line protocol; every method but build returns the builder."""

from errors import InvalidKeyError, InvalidLineError, InvalidMeasurementError

_INT64 = 1 << 63
_UINT64 = 1 << 64


def _key(name, what):
    if not isinstance(name, str) or name == "":
        raise InvalidKeyError(f"{what} key must be a text that is not empty, got {name!r}")
    for bad, shown in ((" ", "spaces"), (",", "commas"), ("=", "equals signs"), ("\n", "line breaks"), ("\t", "tabs")):
        if bad in name:
            raise InvalidKeyError(f"{what} key cannot contain {shown}: {name!r}")
    if name.endswith("\\"):
        raise InvalidKeyError(f"{what} key cannot end with a backslash: {name!r}")
    return name


def _integer(value, what, key):
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} field {key!r} takes an integer, got {value!r}")
    return value.__index__()


class LineBuilder:
    def __init__(self, measurement):
        if not isinstance(measurement, str) or measurement == "":
            raise InvalidMeasurementError(f"measurement must be a text that is not empty, got {measurement!r}")
        if any(bad in measurement for bad in " \n\t") or measurement.endswith("\\"):
            raise InvalidMeasurementError(f"measurement cannot contain spaces, tabs or line breaks, nor end with a backslash: {measurement!r}")
        self.measurement = measurement
        self._tags = {}
        self._fields = {}
        self._time = None

    def tag(self, key, value):
        text = str(value)
        if "\n" in text or text == "" or text.endswith("\\"):
            raise InvalidLineError(f"tag {key!r} cannot be empty, contain line breaks or end with a backslash: {text!r}")
        for char in (",", "=", " "):
            text = text.replace(char, "\\" + char)
        self._tags[_key(key, "tag")] = text
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
        number = _integer(timestamp_ns, "time", "time")
        if not -_INT64 <= number < _INT64:
            raise ValueError(f"a time has 64 bits of nanoseconds, got {number}")
        self._time = number
        return self

    def build(self):
        if not self._fields:
            raise InvalidLineError(f"a line needs a field: {self.measurement!r} has none")
        head = [self.measurement.replace(",", "\\,")] + [f"{key}={value}" for key, value in self._tags.items()]
        line = ",".join(head) + " " + ",".join(f"{key}={value}" for key, value in self._fields.items())
        return line if self._time is None else f"{line} {self._time}"

    def _field(self, key, text):
        self._fields[_key(key, "field")] = text
        return self

    def __str__(self):
        return self.build()


# where plugins find it: pickled builders of a cache are looked up there
LineBuilder.__module__ = "builtins"
