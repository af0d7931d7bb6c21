"""The small server over streamable HTTP, in a thread of the test's own process; it can be made to misbehave, too."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support.mcp_server import TOOLS, text


@dataclass
class HttpMcp:
    """A server that listens. `odd` says what is wrong with it; `headers` are those of every request so far."""

    odd: dict[str, Any]
    url: str = ""
    headers: list[dict[str, str]] = field(default_factory=list)
    ending: threading.Event = field(default_factory=threading.Event)


@contextmanager
def http_server(**odd: Any) -> Iterator[HttpMcp]:
    """As long as this lasts it listens on this machine."""
    server = HttpMcp(odd)

    class Handler(_Handler):
        mcp = server

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        listening.daemon_threads = True
        server.url = f"http://127.0.0.1:{listening.server_address[1]}/mcp"
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.ending.set()
            listening.shutdown()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    mcp: HttpMcp
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        """There is no stream of its own."""
        self._reply(405, b"")

    def do_DELETE(self) -> None:
        """The session's end."""
        self._reply(200, b"")

    def do_POST(self) -> None:
        """One message."""
        self.mcp.headers.append({name.lower(): value for name, value in self.headers.items()})
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        odd = self.mcp.odd
        if "id" not in message:
            self._reply(202, b"")
        elif "status" in odd:
            self._reply(odd["status"], b"no", "text/plain")
        elif odd.get("hang") == message["method"]:
            self.mcp.ending.wait()
        elif odd.get("drop") == message["method"]:
            self.close_connection = True
        else:
            self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        odd, method = self.mcp.odd, message["method"]
        result = self._result(method, message.get("params") or {})
        body = {"jsonrpc": "2.0", "id": message["id"]}
        body |= {"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result}
        data = json.dumps(body).encode()
        if odd.get("events"):
            note = b'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
            data = (note if method == "tools/call" else b"") + b"data: " + data + b"\n\n"
            self._reply(200, data, "text/event-stream")
        elif odd.get("packed") == method:
            self._reply(200, gzip.compress(data), packed=True)
        else:
            self._reply(200, data)

    def _result(self, method: str, params: dict[str, Any]) -> dict[str, Any] | None:
        if method == "initialize":
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "distant", "version": "1"},
            }
        if method == "tools/list":
            return {"tools": TOOLS}
        if method == "tools/call":
            size = self.mcp.odd.get("size")
            return text("x" * size if size else str(params["arguments"].get("text")))
        return None

    def _reply(self, status: int, body: bytes, kind: str = "application/json", *, packed: bool = False) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        if packed:
            self.send_header("content-encoding", "gzip")
        self.end_headers()
        self.wfile.write(body)
