"""Whether a repository is an MCP server, how it is started, and where its tools are listed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.starter.found import Finds, Origin, find
from evalward.starter.mcp_server import MOST_SOURCES, FoundServer, find_server
from evalward.suites.mcp.catalogue import dump_catalogue, make_catalogue

PYTHON = 'from mcp.server.fastmcp import FastMCP\nmcp = FastMCP("shop")\nmcp.run()\n'
TOOLS = {"tools": [{"name": "list_orders", "inputSchema": {"type": "object"}}]}
CATALOGUE = make_catalogue("shop", TOOLS["tools"])
REGISTRY = {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json",
    "name": "io.a/shop",
}
LIBRARY = '"dependencies": {"@modelcontextprotocol/sdk": "^1.0.0"}'


def found(files: Mapping[str, str]) -> FoundServer | None:
    return find_server(list(files), lambda path: files.get(path, ""))


def command(files: Mapping[str, str]) -> tuple[str, str]:
    """The command in one text, and the file that it was found in."""
    server = found(files)
    assert server is not None
    return " ".join(server.command), server.named_by


def project(more: str = "", name: str = "shop", needs: str = '"mcp>=1.2"') -> str:
    return f'[project]\nname = "{name}"\ndependencies = [{needs}]\n{more}'


def registry(**package: Any) -> str:
    return json.dumps({**REGISTRY, "packages": [package]})


def hosts(key: str = "mcpServers", **server: Any) -> str:
    return json.dumps({key: {"shop": server}})


SCRIPT = '[project.scripts]\nshop = "shop:main"\n'
MARKED = '[project.scripts]\nhelp = "shop:help"\nshop-mcp = "shop:main"\n'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        # pyproject.toml
        ({"pyproject.toml": project(MARKED)}, "shop-mcp < pyproject.toml"),
        ({"pyproject.toml": project(SCRIPT, "mcp-server-shop")}, "shop < pyproject.toml"),
        ({"pyproject.toml": project('[project.scripts]\nrun = "a.mcp:main"\n')}, "run < pyproject.toml"),
        ({"pyproject.toml": project(f'keywords = ["mcp"]\n{SCRIPT}')}, "shop < pyproject.toml"),
        ({"pyproject.toml": project(MARKED, needs='"fastmcp[cli] ~= 2"')}, "shop-mcp < pyproject.toml"),
        (
            {
                "pyproject.toml": '[tool.poetry]\nname = "a"\n[tool.poetry.dependencies]\nmcp = "*"\n'
                '[tool.poetry.scripts]\na-mcp = "a:b"'
            },
            "a-mcp < pyproject.toml",
        ),
        (
            {"pyproject.toml": project(SCRIPT), "src/shop/__init__.py": "", "src/shop/server.py": PYTHON},
            "shop < pyproject.toml",
        ),
        # package.json
        (
            {"package.json": f'{{"name": "@a/shop-mcp", "bin": "./build/index.js", {LIBRARY}}}'},
            "node build/index.js < package.json",
        ),
        (
            {"package.json": f'{{"name": "a", "bin": {{"x": "x.js", "mcp-a": "a.js"}}, {LIBRARY}}}'},
            "node a.js < package.json",
        ),
        (
            {"package.json": f'{{"name": "a", "mcpName": "io.a/a", "main": "dist/a.js", {LIBRARY}}}'},
            "node dist/a.js < package.json",
        ),
        (
            {
                "package.json": f'{{"name": "a", "main": "a.js", {LIBRARY}}}',
                "src/a.ts": 'import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";',
            },
            "node a.js < package.json",
        ),
        # server.json
        (
            {
                "server.json": registry(registryType="pypi", identifier="shop"),
                "pyproject.toml": project(SCRIPT, needs=""),
            },
            "shop < server.json",
        ),
        (
            {
                "server.json": registry(registryType="npm", identifier="@a/shop"),
                "package.json": '{"name": "@a/shop", "bin": "a.js"}',
            },
            "node a.js < server.json",
        ),
        (
            {
                "server.json": registry(
                    registryType="pypi",
                    identifier="shop",
                    packageArguments=[
                        {"type": "positional", "value": "serve"},
                        {"type": "named", "name": "--db", "value": "x.db"},
                        {"type": "positional", "valueHint": "folder"},
                    ],
                ),
                "pyproject.toml": project(SCRIPT),
            },
            "shop serve --db x.db < server.json",
        ),
        # what hosts are told
        (
            {".mcp.json": hosts(command="python", args=["server.py", "--quiet"]), "server.py": ""},
            "python3 server.py --quiet < .mcp.json",
        ),
        (
            {
                "mcp.json": hosts(command="uv", args=["--directory", ".", "run", "shop", "--db=x.db"]),
                "pyproject.toml": project(SCRIPT, needs=""),
            },
            "shop --db=x.db < mcp.json",
        ),
        (
            {
                ".vscode/mcp.json": hosts("servers", command="node", args=["${workspaceFolder}/build/index.js"]),
                "package.json": '{"name": "a", "bin": "build/index.js"}',
            },
            "node build/index.js < .vscode/mcp.json",
        ),
        (
            {".cursor/mcp.json": hosts(command="python3", args=["-m", "shop.server"]), "src/shop/server.py": ""},
            "python3 -m shop.server < .cursor/mcp.json",
        ),
        # programs
        ({"server.py": PYTHON}, "python3 server.py < server.py"),
        ({"src/shop/__init__.py": "", "src/shop/server.py": PYTHON}, "python3 -m shop.server < src/shop/server.py"),
    ],
)
def test_each_form_says_how_the_server_is_started(files: dict[str, str], expected: str) -> None:
    assert " < ".join(command(files)) == expected


@pytest.mark.parametrize(
    "files",
    [
        {"pyproject.toml": project(SCRIPT)},  # a client needs the library, too
        {"pyproject.toml": project(SCRIPT, "shop-mcp", needs='"mcproto"')},
        {"pyproject.toml": project(f'{SCRIPT}[project.optional-dependencies]\nextra = ["mcp"]\n', needs="")},
        {"pyproject.toml": "[project"},
        {"pyproject.toml": project(SCRIPT), "tests/server.py": PYTHON, "examples/server.py": PYTHON},
        {"package.json": f'{{"name": "a", "bin": "a.js", {LIBRARY}}}'},
        {"package.json": '{"name": "a-mcp", "bin": "a.js"}'},
        {"package.json": "[1]"},
        {"server.json": '{"name": "web", "port": 80}'},
        {"server.json": "[]"},
        {".mcp.json": hosts(command="npx", args=["-y", "@modelcontextprotocol/server-github"])},
        {".mcp.json": hosts(command="python", args=["/opt/server.py"]), "server.py": ""},
        {".mcp.json": hosts(command="python", args=["../server.py"]), "server.py": ""},
        {".mcp.json": hosts(command="sh", args=["-c", "$(id)"])},
        {".mcp.json": hosts(command=["python"], args={"server.py": 1}), "server.py": ""},
        {".mcp.json": '{"mcpServers": [1]}'},
        {"tools.json": json.dumps(TOOLS)},  # of some server
        {"client.py": "from mcp import ClientSession\n"},
    ],
)
def test_who_only_uses_servers_is_none(files: dict[str, str]) -> None:
    assert found(files) is None


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (
            {"server.json": json.dumps({**REGISTRY, "remotes": [{"type": "streamable-http", "url": "https://a.b"}]})},
            "server.json",
        ),
        ({"server.json": registry(registryType="oci", identifier="a/b")}, "server.json"),
        ({"package.json": f'{{"name": "shop-mcp", {LIBRARY}}}'}, "package.json"),
        ({"server.py": "import fastmcp\n"}, "server.py"),
    ],
)
def test_a_server_that_nothing_starts_is_said_to_be_one(files: dict[str, str], named: str) -> None:
    finds = find(list(files), lambda path: files.get(path, ""))
    assert finds == Finds(unstarted=named)


def test_a_list_of_tools_makes_cases_possible() -> None:
    files = {"package.json": "{}", "a.json": json.dumps({"inputSchema": 1}), "docs/tools.json": json.dumps(TOOLS)}
    assert found(files) is None
    assert found({**files, "server.py": PYTHON}) == FoundServer(
        ("python3", "server.py"), "server.py", "docs/tools.json", CATALOGUE.model_copy(update={"server": "tools"})
    )


def test_a_list_that_evalward_wrote_is_enough() -> None:
    server = found({"evals/mcp/tools.json": dump_catalogue(CATALOGUE)})
    assert server == FoundServer(snapshot="evals/mcp/tools.json", catalogue=CATALOGUE)
    origins = find(["tools.json"], lambda _: dump_catalogue(CATALOGUE)).origins
    assert origins == (Origin("mcp", ("tools.json",), server=FoundServer(snapshot="tools.json", catalogue=CATALOGUE)),)


@pytest.mark.parametrize("text", ['{"tools": []}', '{"tools": [{"inputSchema": {}}]}', '{"inputSchema"', "[" * 100_000])
def test_what_is_no_list_of_tools_is_none(text: str) -> None:
    server = found({"server.py": PYTHON, "tools.json": f'{text}"inputSchema"', "mcp-tools.json": text})
    assert server is not None
    assert server.snapshot is None


def test_variables_are_named_and_their_values_are_not_read_on() -> None:
    package = registry(
        registryType="pypi", identifier="shop", environmentVariables=[{"name": "DB"}, {"name": "a b"}, 1]
    )
    files = {
        "server.json": package,
        ".mcp.json": hosts(command="python", args=["server.py"], env={"TOKEN": "hunter2", "x\ny": "1"}),
        "server.py": "",
        "pyproject.toml": project(SCRIPT),
    }
    server = found(files)
    assert server is not None
    assert server.variables == ("TOKEN", "DB")
    assert "hunter2" not in repr(server)


@pytest.mark.parametrize("word", ["a b", 'a"', "a\n- b", "$HOME", "a;b", "ä", "x" * 300])
def test_a_command_that_a_file_could_not_hold_is_not_taken(word: str) -> None:
    assert found({".mcp.json": hosts(command="python", args=["server.py", word]), "server.py": ""}) is None


def test_a_file_that_a_build_makes_is_known_to_be_one() -> None:
    files = {"package.json": f'{{"name": "shop-mcp", "bin": "a.js", {LIBRARY}}}'}
    built, there = found(files), found({**files, "a.js": ""})
    assert built is not None
    assert there is not None
    assert (built.built, there.built) == (True, False)


def test_only_so_many_programs_are_read() -> None:
    read: list[str] = []

    def text(path: str) -> str:
        read.append(path)
        return ""

    find_server([f"a{number}.py" for number in range(3 * MOST_SOURCES)], text)
    assert len([path for path in read if path.endswith(".py")]) == MOST_SOURCES


@given(
    st.text(max_size=200), st.dictionaries(st.text(max_size=9), st.one_of(st.none(), st.text(), st.lists(st.text())))
)
def test_any_text_is_a_server_or_none(text: str, value: dict[str, object]) -> None:
    for path in ("pyproject.toml", "package.json", "server.json", ".mcp.json", "tools.json", "a.py"):
        for content in (text, json.dumps(value), json.dumps({"mcpServers": value, "packages": [value], "bin": value})):
            server = found({path: content})
            assert server is None or isinstance(server, FoundServer)
