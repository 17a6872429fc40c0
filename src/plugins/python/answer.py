"""What process_request may return -> status, headers and body of the HTTP answer."""

import json

_HTML = "text/html; charset=utf-8"
_PLAIN = "text/plain; charset=utf-8"


class _Text(str):
    """A number, or nothing, in a tuple."""


def response_of(value, bytes_max):
    """@raises TypeError, ValueError for what is no answer"""
    status, headers = 200, {}
    if callable(getattr(value, "__flask_response__", None)):
        return _response(value.get_data(), value.status_code, value.headers, bytes_max)
    if isinstance(value, tuple):
        if not 1 <= len(value) <= 3:
            raise TypeError(f"a tuple of an answer is (body, status, headers), got {len(value)} members")
        value, *rest = value
        if len(rest) == 1 and not isinstance(rest[0], int):
            rest.insert(0, 200)
        status, headers = (rest + [200, {}][len(rest) :])[:2]
        if value is None or isinstance(value, (int, float)):
            value = _Text("" if value is None else str(value))
    return _response(value, status, headers, bytes_max)


def _response(value, status, headers, bytes_max):
    if isinstance(status, bool) or not isinstance(status, int) or not 200 <= status <= 599:
        raise ValueError(f"an answer's status is a number from 200 to 599, got {status!r}")
    body, content_type = _body(value, bytes_max)
    pairs = [(str(name), str(text)) for name, text in _items(headers)]
    for name, text in pairs:
        if any(bad in name + text for bad in "\r\n\0"):
            raise ValueError(f"a header of an answer has a line break: {name!r}")
    if not any(name.lower() == "content-type" for name, _ in pairs):
        pairs.append(("content-type", content_type))
    return {"status": status, "headers": pairs}, body


def _items(headers):
    if headers is None:
        return []
    return headers.items() if hasattr(headers, "items") else list(headers)


def _body(value, bytes_max):
    if isinstance(value, (dict, list)):
        return _bounded(json.dumps(value).encode(), bytes_max), "application/json"
    if isinstance(value, str):
        return _bounded(_utf8(value), bytes_max), _PLAIN if isinstance(value, _Text) else _HTML
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _bounded(bytes(value), bytes_max), "application/octet-stream"
    try:
        items = iter(value)
    except TypeError:
        raise TypeError("Unsupported return type from Python function") from None
    body = bytearray()
    for item in items:
        body += item if isinstance(item, (bytes, bytearray)) else _utf8(str(item))
        _bounded(body, bytes_max)
    return bytes(body), _HTML


def _utf8(text):
    return text.encode("utf-8", "replace")


def _bounded(body, bytes_max):
    if len(body) > bytes_max:
        raise ValueError(f"an answer has at most {bytes_max} bytes")
    return body
