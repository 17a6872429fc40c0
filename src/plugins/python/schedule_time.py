"""The time that a scheduled plugin gets: naive, in UTC as the schedule, whole seconds."""

import datetime

_UTC = datetime.timezone.utc


class _UtcTime(datetime.datetime):
    """Python takes a naive time for one of the machine's zone. Published plugins either do so or say that it is UTC; here both give the
    same time."""

    def _aware(self):
        time = datetime.datetime(self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond)
        return time.replace(tzinfo=self.tzinfo or _UTC, fold=self.fold)

    def astimezone(self, tz=None):
        return self._aware().astimezone(tz)

    def timestamp(self):
        return self._aware().timestamp()

    def __repr__(self):
        return repr(self._plain())

    def __reduce_ex__(self, protocol):
        return self._plain().__reduce_ex__(protocol)

    def _plain(self):
        return self._aware().replace(tzinfo=self.tzinfo)


# what a plugin logs of its type
_UtcTime.__name__ = _UtcTime.__qualname__ = _UtcTime.__module__ = "datetime"


def schedule_time(milliseconds):
    time = datetime.datetime.fromtimestamp(milliseconds // 1000, _UTC)
    return _UtcTime(time.year, time.month, time.day, time.hour, time.minute, time.second)
