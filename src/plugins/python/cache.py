"""`local.cache`: values between runs. Those of a trigger with one process stay in it, by reference. Those of all triggers, of triggers with
several processes and of tests are pickled and held by the server."""

import pickle
import threading
import time

_TTL_MAX = float(1 << 53)


class TriggerValues:
    """Values of this process, by reference."""

    def __init__(self):
        self._values = {}
        self._lock = threading.Lock()

    def __len__(self):
        return len(self._values)

    def put(self, key, value, ttl):
        end = None if ttl is None else time.monotonic() + ttl
        with self._lock:
            self._values[key] = (value, end)
            for old in [name for name, (_, due) in self._values.items() if due is not None and due <= time.monotonic()]:
                del self._values[old]

    def get(self, key, default):
        with self._lock:
            value, end = self._values.get(key, (default, None))
            if end is not None and end <= time.monotonic():
                del self._values[key]
                return default
            return value

    def delete(self, key):
        with self._lock:
            _, end = self._values.pop(key, (None, 0.0))
            return end is None or end > time.monotonic()


class ServerValues:
    """Values that the server holds, pickled."""

    def __init__(self, link, scope):
        self._link = link
        self._scope = scope

    def _ask(self, op, key, blob=b"", **more):
        head, data = self._link.ask({"t": "cache", "op": op, "scope": self._scope, "key": key, **more}, blob)
        if "error" in head:
            raise MemoryError(head["error"])
        return head["found"], data

    def put(self, key, value, ttl):
        try:
            blob = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            raise TypeError(f"the cache holds {key!r} for other processes and cannot pickle it: {error}") from error
        self._ask("put", key, blob, ttl=ttl)

    def get(self, key, default):
        found, data = self._ask("get", key)
        return pickle.loads(data) if found else default

    def delete(self, key):
        return self._ask("delete", key)[0]


class Cache:
    def __init__(self, own, shared):
        self._own = own
        self._shared = shared

    def _of(self, use_global):
        return self._shared if use_global else self._own

    def put(self, key, value, ttl=None, use_global=None):
        _check(key)
        if ttl is not None and not 0 <= ttl <= _TTL_MAX:
            raise ValueError(f"ttl is a number of seconds, got {ttl!r}")
        self._of(use_global).put(key, value, ttl)

    def get(self, key, default=None, use_global=None):
        _check(key)
        return self._of(use_global).get(key, default)

    def delete(self, key, use_global=None):
        _check(key)
        return self._of(use_global).delete(key)


def _check(key):
    if not isinstance(key, str):
        raise TypeError(f"keys of the cache are texts, got {key!r}")
