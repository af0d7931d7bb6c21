"""A small MCP server of the standard library alone, which can be made to misbehave. It is run as a program.

Its arguments are words such as `pages=3`, `die=call`; without any it is a good server with three tools.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

TOOLS: list[dict[str, Any]] = [
    {
        "name": "echo",
        "description": "Says a text again.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    },
    {
        "name": "add",
        "title": "Add",
        "description": "Adds two numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
        "outputSchema": {"type": "object", "properties": {"sum": {"type": "number"}}, "required": ["sum"]},
        "annotations": {"readOnlyHint": True},
    },
    {
        "name": "write_note",
        "description": "Writes a note into the folder.",
        "inputSchema": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "text": {"type": "string"}},
            "required": ["name", "text"],
        },
    },
]


def send(value: Any) -> None:
    """One message."""
    sys.stdout.buffer.write(json.dumps(value).encode() + b"\n")
    sys.stdout.buffer.flush()


def raw(data: bytes) -> None:
    """Bytes that may be none."""
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def answer(number: Any, result: Any) -> None:
    """The answer to a request."""
    send({"jsonrpc": "2.0", "id": number, "result": result})


def refuse(number: Any, code: int, message: str) -> None:
    """A refusal."""
    send({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}})


def text(words: str, *, failed: bool = False, **more: Any) -> dict[str, Any]:
    """A result of a call."""
    return {"content": [{"type": "text", "text": words}], "isError": failed, **more}


def spy() -> dict[str, Any]:
    """What can be read of other processes and of the repository, and where the words of a secret stand in it."""
    words = [b"-".join((b"canary", b"of", b"a", b"key")), b"Look" + b" around"]
    processes = [*Path("/proc").glob("[0-9]*/environ"), *Path("/proc").glob("[0-9]*/cmdline")]
    files = [Path(folder, name) for folder, _, names in os.walk(".", followlinks=True) for name in names]
    read = {str(path): content for path in (*processes, *files) if (content := content_of(path)) is not None}
    return {
        "processes": sum(path.startswith("/proc") for path in read),
        "files": sum(not path.startswith("/proc") for path in read),
        "found": sorted(path for path, content in read.items() if any(word in content for word in words)),
    }


def content_of(path: Path) -> bytes | None:
    """What stands there, if it can be read."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def sleep_on() -> None:
    """For ever."""
    while True:
        time.sleep(60)


def make_noise() -> None:
    """Lines that are no messages."""
    raw(b'Listening \xff\xfe on stdio\n\n{"no": "message"}\n[]\n')


def die() -> None:
    """With a reason."""
    sys.stderr.write("no database: the reason stands here\n")
    sys.exit(7)


def close_output() -> None:
    """And live on."""
    os.close(1)
    sleep_on()


def flood() -> None:
    """Notifications without an end."""
    while True:
        send({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}})


ODDITIES = {"noise": make_noise, "die": die, "close": close_output, "flood": flood}
"""What a server can do at a moment that its arguments name."""


class MisbehavingServer:
    """Reads requests until its input ends. `odd` says what is wrong with it."""

    def __init__(self, odd: dict[str, str]) -> None:
        self.odd, self.calls = odd, 0

    def serve(self) -> None:
        """All of it."""
        self.misbehave("start")
        for line in sys.stdin:
            request = json.loads(line)
            if "method" in request and "id" in request:
                self.handle(request["method"], request["id"], request.get("params") or {})
        if "stay" in self.odd:
            sleep_on()

    def misbehave(self, moment: str) -> bool:
        """Whatever belongs to this moment; whether nothing more is to be said."""
        if moment == "start":
            self.begin()
        for name, does in ODDITIES.items():
            if self.odd.get(name) == moment:
                does()
        return self.odd.get("hang") == moment

    def begin(self) -> None:
        """Fill standard error, leave a child behind."""
        for _ in range(int(self.odd.get("stderr", 0))):
            os.write(2, b"E" * 1_000_000)
        if "litter" in self.odd:
            (Path.home() / ".profile").write_text("exit 0")
            Path(os.environ["TMPDIR"], "left").write_text("x")
        if "child" in self.odd and os.fork() == 0:
            sleep_on()

    def handle(self, method: str, number: Any, params: dict[str, Any]) -> None:
        """One request."""
        if method == "initialize":
            if not self.misbehave("initialize"):
                answer(number, self.welcome())
        elif method == "tools/list":
            if not self.misbehave("list"):
                answer(number, self.page(params.get("cursor")))
        elif method == "tools/call":
            if not self.misbehave("call"):
                self.call(number, params["name"], params.get("arguments") or {})
        elif method == "server/discover" and self.misbehave("discover"):
            return
        else:
            refuse(number, -32601, "Method not found")

    def welcome(self) -> dict[str, Any]:
        """The answer to `initialize`."""
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "small", "version": "1"},
            "instructions": "Use echo for texts.",
        }

    def page(self, cursor: str | None) -> dict[str, Any]:
        """A page of the tools."""
        if "endless" in self.odd:
            number = int(cursor or 0)
            return {"tools": [{**TOOLS[0], "name": f"tool_{number}"}], "nextCursor": str(number + 1)}
        if "paged" in self.odd:
            number = int(cursor or 0)
            return {"tools": [TOOLS[number]], **({"nextCursor": str(number + 1)} if number + 1 < len(TOOLS) else {})}
        if "tools" in self.odd:
            return {"tools": [{**TOOLS[0], "name": f"tool_{n}"} for n in range(int(self.odd["tools"]))]}
        if "list" in self.odd:
            return json.loads(self.odd["list"])  # type: ignore[no-any-return]
        return {"tools": TOOLS}

    def call(self, number: Any, name: str, arguments: dict[str, Any]) -> None:
        """A call of a tool."""
        if "changed" in self.odd:
            send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
        if "stray" in self.odd:
            answer(4711, text("nobody asked"))
            refuse("nobody", -1, "nobody asked")
        if "answer" in self.odd:
            send({"jsonrpc": "2.0", "id": number, **json.loads(self.odd["answer"])})
        elif "broken_text" in self.odd:
            raw(b'{"jsonrpc":"2.0","id":%d,"result":{"content":[{"type":"text","text":"a\xffb"}]}}\n' % number)
        elif "ask" in self.odd:
            send({"jsonrpc": "2.0", "id": "mine", "method": self.odd["ask"], "params": {}})
            refusal = json.loads(sys.stdin.readline())
            answer(number, text(refusal["error"]["message"]))
        elif "size" in self.odd:
            answer(number, text("x" * int(self.odd["size"])))
        else:
            self.execute(number, name, arguments)

    def execute(self, number: Any, name: str, arguments: dict[str, Any]) -> None:
        """What the tools do."""
        if self.odd.get("refuse") == name:
            refuse(number, -32602, f"{name} is refused")
        elif "counting" in self.odd and name == "echo":
            self.calls += 1
            answer(number, text(str(self.calls)))
        elif name == "echo":
            answer(number, text(str(arguments.get("text"))))
        elif name == "add":
            total = arguments["a"] + arguments["b"]
            answer(number, text(str(total), structuredContent={"sum": total}))
        elif name == "write_note":
            path = Path(os.environ["NOTES"]) / arguments["name"]
            path.write_text(arguments["text"])
            answer(number, text(f"{path.name} is written"))
        elif name == "spy":
            answer(number, text(json.dumps(spy())))
        elif name == "look":
            answer(number, text(json.dumps(self.look(arguments["name"]))))
        else:
            refuse(number, -32602, f"Unknown tool: {name}")
        if self.odd.get("last") == name:
            sys.exit(0)

    def look(self, name: str) -> dict[str, Any]:
        """What it sees."""
        return {
            "content": (Path(os.environ["NOTES"]) / name).read_text(),
            "cwd": str(Path.cwd()),
            "notes": os.environ["NOTES"],
            "beside": sorted(path.name for path in Path().iterdir()),
            "home": os.environ["HOME"],
            "variables": sorted(set(os.environ) - {"LC_CTYPE"}),
        }


if __name__ == "__main__":
    MisbehavingServer(dict(word.partition("=")[::2] for word in sys.argv[1:])).serve()
