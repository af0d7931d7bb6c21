"""The files that a repository begins with, made of what was found and first. Nothing is read or written."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from evalward import __version__
from evalward.packaged import packaged
from evalward.records.providers import PROVIDERS
from evalward.starter.found import SHELL, Origin
from evalward.starter.mcp_server import FoundServer

if TYPE_CHECKING:
    from jinja2 import Environment

CONFIG = "evalward.yml"
WORKFLOW = ".github/workflows/evalward.yml"
IGNORED = "evalward-out/"
MODEL = re.compile(r"([a-z0-9-]+)/[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}")
INSTALLED: Mapping[str, str] = MappingProxyType(
    {
        "inspect": "pip install inspect-ai",
        "promptfoo": "npm install -g promptfoo",
        "deepeval": "pip install deepeval",
        "pydantic-evals": "pip install pydantic-evals",
        "vitest-evals": "npm ci",
        "pytest": "pip install pytest",
    }
)
"""Other harnesses by the names of their templates, and how a workflow installs each."""
CASES = "evals/mcp/first.yaml"
"""The first requests to an MCP server."""
_SERVER_INSTALLED: Mapping[str, str] = MappingProxyType({"node": "npm ci", "python3": "pip install mcp"})
"""How a workflow installs what a server needs that is a file; others are programs of the repository's package."""
_NEEDS_A_MODEL: Mapping[str, str] = MappingProxyType({"prompts": "expected", "tasks": "solved", "skills": "solved"})
"""Templates whose suites need a model, unless their files have this."""
_AGENTS: Mapping[str, str] = MappingProxyType({"anthropic": "claude-code", "openai": "codex"})
_JUDGES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"anthropic": ("claude-sonnet-5", "claude-haiku-4-5"), "openai": ("gpt-5-mini", "gpt-5.5")}
)
_VALUE = re.compile(r"[A-Za-z0-9 _./:@{}=+-]*")


@dataclass(frozen=True)
class FirstSuite:
    """What a first suite is made of, the model that it asks (`None`: none), and whether there is to be a workflow."""

    origin: Origin = SHELL
    model: str | None = None
    workflow: bool = True

    @property
    def key(self) -> str | None:
        """The variable of the model's key."""
        return key_of(self.model) if self.model else None

    @property
    def random(self) -> bool:
        """Whether trials of one case may end differently."""
        return self.model is not None or self.origin.template in INSTALLED


@dataclass(frozen=True)
class NewFile:
    """A file that is to be written: its path from the top of the repository, and its text."""

    path: str
    text: str


def key_of(model: str) -> str | None:
    """The variable of the key that a model needs; `None` for what is no model's name."""
    found = MODEL.fullmatch(model)
    row = PROVIDERS.get(found[1]) if found else None
    return row.key_env if row else None


def agent_of_model(model: str | None) -> str | None:
    """The coding agent that a model's provider makes, with the model; opencode for the others."""
    if model is None:
        return None
    provider, _, name = model.partition("/")
    return f"{_AGENTS[provider]}/{name}" if provider in _AGENTS else f"opencode/{model}"


def judge_of_model(model: str | None) -> str | None:
    """A judge that costs little and isn't the model that is evaluated, of the same provider: its key is there."""
    if model is None:
        return None
    provider = model.partition("/")[0]
    return next((f"{provider}/{name}" for name in _JUDGES.get(provider, ()) if f"{provider}/{name}" != model), model)


def usable(origin: Origin, model: str | None) -> bool:
    """Whether a suite can be made of it with this model, or with none."""
    needed = _NEEDS_A_MODEL.get(origin.template)
    return needed is None or model is not None or needed in origin.flags


def planned(first: FirstSuite) -> list[NewFile]:
    """The files, the configuration first."""
    server = first.origin.server
    values: dict[str, object] = {
        "server": server,
        "skills": first.origin.skills,
        "agent": agent_of_model(first.model),
        "judge": judge_of_model(first.model),
        "files": first.origin.files,
        "flags": first.origin.flags,
        "model": first.model,
        "key": first.key,
        "ref": action_ref(__version__),
        "install": INSTALLED.get(first.origin.template),
    }
    if server is not None and server.command:
        values["install"] = _SERVER_INSTALLED.get(server.command[0], "pip install .")
    files = [NewFile(CONFIG, written(f"{first.origin.template}.yml", values))]
    if first.origin == SHELL:
        files += [
            NewFile("evals/bash/first.yaml", written("cases.yml", values)),
            NewFile("prompts/bash.md", written("prompt.md", values)),
        ]
    if server is not None:
        files.append(NewFile(CASES, _requests(server, first.model, values)))
    if first.workflow:
        harness = values["install"] is not None
        files.append(NewFile(WORKFLOW, written("workflow-harness.yml" if harness else "workflow.yml", values)))
    return files


def _requests(server: FoundServer, model: str | None, values: Mapping[str, object]) -> str:
    """The text of the first requests: what to do with them, the cases, and which tools have none."""
    from evalward.starter.mcp_cases import case_texts  # noqa: PLC0415 - loads how tools are offered to models

    cases, left = case_texts(server.catalogue, model)
    return "".join([written("mcp-cases.yml", values), *(f"# {line}\n" for line in left), cases])


def action_ref(version: str) -> str:
    """The action's ref in the workflow, for a package of this version: before the first release there is no tag."""
    major = version.partition(".")[0]
    return "main" if major == "0" else f"v{major}"


def ignoring(text: str) -> str | None:
    """A `.gitignore` that also names the output folder; `None` where it does already."""
    wanted = IGNORED.strip("/")
    if any(line.strip().strip("/") == wanted for line in text.splitlines()):
        return None
    return f"{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{IGNORED}\n"


def written(template: str, values: Mapping[str, object]) -> str:
    """A template's text. Raises `ValueError` for a value that a YAML text could take for something else."""
    return environment().get_template(f"{template}.j2").render(**values)


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The one for files that people go on writing. `@{ }@` stands for a value: workflows have `${{ }}`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - only who writes pays for it

    return Environment(  # noqa: S701 - finalize refuses what would have to be escaped
        loader=FileSystemLoader(packaged("templates") / "init"),
        variable_start_string="@{",
        variable_end_string="}@",
        undefined=StrictUndefined,
        finalize=_plain,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _plain(value: object) -> object:
    if isinstance(value, str) and not _VALUE.fullmatch(value):
        raise ValueError(f"a template can't hold {value[:60]!r}")
    return value


def suggested(keys: Collection[str]) -> list[str]:
    """The models to begin with that these variables of keys pay for."""
    return [f"{row.name}/{row.judge}" for row in PROVIDERS.values() if row.judge and row.key_env in keys]
