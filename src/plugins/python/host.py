"""The process of a plugin: waits for calls, runs one at a time, sends what came of it."""

import builtins
import os
import signal
import sys
import traceback

import errors
from answer import response_of
from cache import Cache, ServerValues, TriggerValues
from frames import Link
from line_builder import LineBuilder
from loader import Plugin, PluginGone
from local import CANCELLED, Local, Run, end_log
from rows import table_batches
from schedule_time import schedule_time

_TRACE_MAX = 64 << 10
_state = {"run": None}


def _limit_memory(bytes_max):
    """Private memory that can be written. Address space would count what libraries only reserve."""
    try:
        import resource

        kind = resource.RLIMIT_DATA if sys.platform.startswith("linux") else resource.RLIMIT_AS
        resource.setrlimit(kind, (bytes_max, bytes_max))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, ValueError, OSError):
        pass  # the supervisor looks at the resident memory too, where it can


def _arguments(head, blob):
    kind = head["kind"]
    if kind == "writes":
        return [table_batches(head["tables"], blob)]
    if kind == "schedule":
        return [schedule_time(head["timeMs"])]
    return [head["query"], head["headers"], blob]


def _call(function, given):
    """Passes the last argument, the trigger's own, to functions that have a place for it."""
    code = getattr(function, "__code__", None)
    if code is not None and not code.co_flags & 0x04 and code.co_argcount == len(given) - 1:
        given = given[:-1]
    return function(*given)


class Host:
    def __init__(self, options):
        self._link = Link()
        self._options = options
        self._values = TriggerValues()
        self._plugin = None

    def serve(self):
        signal.signal(signal.SIGINT, self._on_interrupt)
        for name, error in vars(errors).items():
            if isinstance(error, type) and not name.startswith("_"):
                setattr(builtins, name, error)
        builtins.LineBuilder = LineBuilder
        _limit_memory(self._options["memoryBytesMax"])
        self._link.start()
        self._link.send({"t": "ready"})
        while True:
            head, blob = self._link.calls.get()
            result, body = self._run(head, blob)
            self._link.send(result, body)

    def _on_interrupt(self, _signal, _frame):
        run = _state["run"]
        if run is not None:
            run.is_cancelled = True
            self._link.interrupt(KeyboardInterrupt(CANCELLED))

    def _run(self, head, blob):
        run = Run(head)
        result = self._outcome(head, blob, run)
        if self._link.is_forked:
            os._exit(0)
        end_log(self._link, run)
        return result

    def _outcome(self, head, blob, run):
        try:
            _state["run"] = run
            try:
                value = self._result(head, blob, run)
            finally:
                # an interrupt from here on comes too late: the run has ended
                _state["run"] = None
        except BaseException as error:
            _state["run"] = None
            return self._failure(error, run)
        response, body = value
        lines = [[name, len(texts), sum(map(len, texts)) + len(texts)] for name, texts in run.lines.items()]
        text = b"".join(line + b"\n" for texts in run.lines.values() for line in texts)
        return {"t": "done", "response": response, "lines": lines, "cached": len(self._values)}, body + text

    def _result(self, head, blob, run):
        function = self._loaded(head["plugin"]).function(head["entry"])
        given = [Local(self._link, run, self._cache(head)), *_arguments(head, blob), head["arguments"]]
        del blob
        value = _call(function, given)
        return (None, b"") if head["kind"] != "request" else response_of(value, head["bodyBytesMax"])

    def _loaded(self, path):
        if self._plugin is not None and self._plugin.path != path:
            self._plugin.forget()
            self._plugin = None
        if self._plugin is None:
            self._plugin = Plugin(path)
        return self._plugin

    def _cache(self, head):
        scope = head["cacheScope"]
        own = self._values if scope is None else ServerValues(self._link, scope)
        return Cache(own, ServerValues(self._link, head["globalScope"]))

    def _failure(self, error, run):
        if isinstance(error, PluginGone):
            return {"t": "done", "failure": {"kind": "no-python", "message": str(error), "traceback": None}, "cached": len(self._values)}, b""
        kind = "memory" if isinstance(error, MemoryError) else "stopped" if run.is_cancelled else "exception"
        try:
            text = "".join(traceback.format_exception(type(error), error, _own_frames(error.__traceback__), limit=-50))
            message = traceback.format_exception_only(type(error), error)[-1].strip()
        except BaseException:  # an exception whose text raises
            text, message = "", type(error).__name__
        finally:
            error.__traceback__ = None
        head = {"t": "done", "failure": {"kind": kind, "message": message[:4096], "traceback": text[-_TRACE_MAX:]}}
        return {**head, "cached": len(self._values)}, b""


def _own_frames(trace):
    """Without the leading frames of this host, and of Python's import of the plugin."""
    while trace is not None and trace.tb_frame.f_code.co_filename.startswith(("<tsdb ", "<frozen importlib")):
        trace = trace.tb_next
    return trace
