"""Exceptions of the plugin API. Plugins find them in builtins, as LineBuilder."""


class InfluxDBError(Exception):
    """What LineBuilder raises."""


class InvalidMeasurementError(InfluxDBError):
    """The name of the table cannot be written."""


class InvalidKeyError(InfluxDBError):
    """The name of a tag or field cannot be written."""


class InvalidLineError(InfluxDBError):
    """The line is none yet: it has no field."""


class QueryError(Exception):
    """A statement failed, or names no database."""


class WriteError(Exception):
    """Lines of write_sync were refused."""


# where plugins find them
for _error in (InfluxDBError, InvalidMeasurementError, InvalidKeyError, InvalidLineError, QueryError, WriteError):
    _error.__module__ = "builtins"
