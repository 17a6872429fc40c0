"""Frames between a plugin's process and the server, little-endian:

    frame | magic 4 = "TSP1" | headBytes u32 | blobBytes u32 | head, JSON | blob |

A thread reads what the server sends. The pipe's end is the server's end: the process group ends with it."""

import ctypes_lite
import itertools
import json
import os
import queue
import signal
import struct
import threading

MAGIC = b"TSP1"
# the server's name for it: what it sent did not fit the memory limit
EXIT_MEMORY = 77
_HEAD = struct.Struct("<4sII")


class Link:
    """Sends frames, and hands received calls and replies to who waits for them."""

    def __init__(self):
        # The plugin's own output must not get between frames: descriptors 0 and 1 become nothing and the log.
        self._in = os.fdopen(os.dup(0), "rb", buffering=1 << 16)
        self._out = os.dup(1)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)
        self._lock = threading.Lock()
        self._replies = {}
        self._numbers = itertools.count(1)
        self._main = threading.get_ident()
        self._is_sending = False
        self._interrupt = None
        self.calls = queue.SimpleQueue()
        self._owner = os.getpid()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self):
        """In a forked child: what it says is not the plugin's answer."""
        os.close(self._out)
        self._out = -1

    @property
    def is_forked(self):
        return os.getpid() != self._owner

    def start(self):
        threading.Thread(target=self._read, name="tsdb frames", daemon=True).start()

    def send(self, head, blob=b""):
        if self._out < 0:
            raise RuntimeError("a forked process has no connection to the server")
        text = json.dumps(head, separators=(",", ":"), ensure_ascii=True).encode()
        parts = memoryview(b"".join((_HEAD.pack(MAGIC, len(text), len(blob)), text, blob)))
        if threading.get_ident() != self._main:
            self._write(parts)
            return
        self._is_sending = True
        try:
            self._write(parts)
        finally:
            self._is_sending = False
            interrupt, self._interrupt = self._interrupt, None
            if interrupt is not None:
                raise interrupt

    def _write(self, parts):
        with self._lock:
            while parts:
                parts = parts[os.write(self._out, parts) :]

    def interrupt(self, error):
        """Raises `error` in the main thread, but not within a frame: what follows half of one would be garbage."""
        if self._is_sending:
            self._interrupt = error
        else:
            raise error

    def ask(self, head, blob=b""):
        """Sends a request and waits for its reply: (head, blob). A long one comes in parts, and then an end without any."""
        box = queue.SimpleQueue()
        number = next(self._numbers)
        self._replies[number] = box
        try:
            self.send({**head, "id": number}, blob)
            parts = []
            while True:
                answer, data = box.get()
                if answer["t"] == "reply":
                    return answer, b"".join(parts) if parts else data
                parts.append(data)
        finally:
            self._replies.pop(number, None)

    def _read(self):
        ctypes_lite.die_with_parent()
        try:
            while True:
                magic, head_bytes, blob_bytes = _HEAD.unpack(self._exactly(_HEAD.size))
                head = json.loads(self._exactly(head_bytes))
                blob = self._exactly(blob_bytes)
                if head["t"] == "call":
                    self.calls.put((head, blob))
                else:
                    box = self._replies.get(head["id"])
                    if box is not None:
                        box.put((head, blob))
        except MemoryError:
            os._exit(EXIT_MEMORY)
        finally:
            os.killpg(os.getpgrp(), signal.SIGKILL)

    def _exactly(self, count):
        data = self._in.read(count)
        if len(data) < count:
            raise EOFError
        return data
