"""From `evalward init` to a green and a red check, by the commands that it names."""

from __future__ import annotations

import json
import os
import shutil
import stat
from pathlib import Path

import pytest
import yaml

from support import warm
from support.fuzzing.folders import write_files

EXAMPLES = Path(__file__).parents[2] / "examples" / "external"
HARNESS = """\
#!/bin/sh
# a harness whose results are those of a real one: it writes them where it is told to
to="$DEEPEVAL_RESULTS_FOLDER/run.json" before=""
for word; do
  case $before in
    --log-dir) to=$word/log.eval ;;
    --output | --junitxml) to=$word ;;
  esac
  case $word in
    --outputFile=*) to=${word#*=} ;;
    */report.json) to=$word ;;
  esac
  before=$word
done
cp "$(dirname "$0")/results" "$to"
"""
BROKEN = {  # example → program, how its files lie in a repository, and how many cases its pull request breaks
    "inspect": ("inspect", "", 2),
    "promptfoo": ("promptfoo", "", 2),
    "deepeval": ("deepeval", "", 2),
    "pydantic-evals": ("python", "", 1),
    "vitest-evals": ("npx", "", 2),
    "pytest": ("pytest", "evals", 2),
}


def evalward(folder: Path, *words: str, path: str = os.environ["PATH"]) -> tuple[int, str]:
    done = warm.evalward(*words, cwd=folder, env={"PATH": path})
    return done.returncode, " ".join((done.stdout + done.stderr).split())


def as_told(folder: Path, path: str = os.environ["PATH"]) -> None:
    """`evalward init`, and the commands that it says are next."""
    done = warm.evalward("init", "--yes", cwd=folder, env={"PATH": path})
    assert done.returncode == 0, done.stderr
    lines = (done.stdout + done.stderr).splitlines()
    commands = [line.split("#")[0].split()[1:] for line in lines if line.startswith("  evalward ")]
    assert len(commands) == 2
    for words in (["validate"], *commands):
        code, said = evalward(folder, *words, path=path)
        assert code == 0, said


def test_an_empty_repository_is_green_and_red_when_a_solution_is_broken(tmp_path: Path) -> None:
    as_told(tmp_path)
    code, said = evalward(tmp_path, "check")
    assert code == 0, said
    assert "nothing got worse" in said

    cases = tmp_path / "evals" / "bash" / "first.yaml"
    broken = cases.read_text("utf-8").replace('$2 == "ERROR"', "/ERROR/")
    assert broken != cases.read_text("utf-8")
    cases.write_text(broken, "utf-8")
    code, said = evalward(tmp_path, "check")
    assert code == 1, said
    assert "count_errors" in said


def test_tasks_and_prompts_that_are_there_are_green_and_red(tmp_path: Path) -> None:
    row = {"id": "one", "input": "hello", "expected": "hello"}
    prompt = {
        "messages": [{"role": "user", "content": "Say {{input}}."}],
        "testData": [row],
        "evaluators": [{"name": "same", "string": {"contains": "hello"}}],
    }
    file = tmp_path / "say.prompt.yml"
    file.write_text(yaml.safe_dump(prompt), "utf-8")
    as_told(tmp_path)
    assert evalward(tmp_path, "check")[0] == 0
    file.write_text(yaml.safe_dump({**prompt, "testData": [{**row, "expected": "bye"}]}), "utf-8")
    assert evalward(tmp_path, "validate")[0] == 2


@pytest.mark.parametrize("name", BROKEN)
def test_a_repository_with_another_harness_is_green_and_red(name: str, tmp_path: Path) -> None:
    program, below, broken = BROKEN[name]
    example = EXAMPLES / name
    repository, bin_folder = tmp_path / "repository", tmp_path / "bin"
    sources = [path for path in example.iterdir() if path.is_file() and path.name != "evalward.yml"]
    write_files(repository / below, {path.name: path.read_bytes() for path in sources})
    write_files(bin_folder, {program: HARNESS.encode()})
    (bin_folder / program).chmod(stat.S_IRWXU)
    path = os.pathsep.join([str(bin_folder), os.environ["PATH"]])
    before, after = (next((example / "outputs").glob(f"{stem}.*")) for stem in ("before", "after"))

    shutil.copyfile(before, bin_folder / "results")
    as_told(repository, path)
    (suite,) = yaml.safe_load((repository / "evalward.yml").read_text("utf-8"))["suites"]
    assert (suite["name"], suite["kind"]) == (name, "external")
    code, said = evalward(repository, "check", path=path)
    assert code == 0, said
    assert "nothing got worse" in said

    shutil.copyfile(after, bin_folder / "results")
    code, said = evalward(repository, "check", path=path)
    assert code == 1, said
    assert f"Broken: {broken} " in said


def test_an_mcp_server_is_green_and_red_when_its_tool_takes_something_else(tmp_path: Path) -> None:
    tools = EXAMPLES.parent / "mcp" / "tools.json"
    shutil.copyfile(tools, tmp_path / "tools.json")
    as_told(tmp_path)
    cases = yaml.safe_load((tmp_path / "evals" / "mcp" / "first.yaml").read_text("utf-8"))
    assert len(cases) == 12 + 1
    code, said = evalward(tmp_path, "check")
    assert code == 0, said

    listed = json.loads(tools.read_text("utf-8"))
    listed["tools"][0]["inputSchema"]["properties"]["query"]["type"] = "integer"
    (tmp_path / "tools.json").write_text(json.dumps(listed), "utf-8")
    code, said = evalward(tmp_path, "check")
    assert code == 1, said
    assert "search_orders" in said


def test_a_server_without_a_list_of_tools_gets_a_case_and_the_next_step(tmp_path: Path) -> None:
    write_files(tmp_path, {"server.py": b'from fastmcp import FastMCP\nFastMCP("shop").run()\nopen("started", "w")\n'})
    code, said = evalward(tmp_path, "init", "--yes")
    assert code == 0
    assert "found mcp: server.py" in said
    assert "init starts no server, and doesn't know the tools" in said
    assert "evalward mcp snapshot --output evals/mcp/tools.json -- python3 server.py" in said
    (suite,) = yaml.safe_load((tmp_path / "evalward.yml").read_text("utf-8"))["suites"]
    assert suite["server"] == {"command": ["python3", "server.py"]}
    assert not (tmp_path / "started").exists()


def test_a_server_that_nothing_starts_is_named_with_the_next_step(tmp_path: Path) -> None:
    write_files(tmp_path, {"server.json": b'{"name": "io.a/shop", "remotes": [{"url": "https://a.b"}]}'})
    code, said = evalward(tmp_path, "init", "--yes")
    assert code == 0
    assert "server.json: an MCP server, but no command that starts it" in said
    (suite,) = yaml.safe_load((tmp_path / "evalward.yml").read_text("utf-8"))["suites"]
    assert suite["kind"] == "bash"
