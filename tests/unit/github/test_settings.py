from __future__ import annotations

from pathlib import Path

import pytest

from evalward.github.settings import ActionInputs, read_runner, read_settings
from evalward.records.problem import InputError

WORKSPACE = "/github/workspace"


def problems(**inputs: str) -> dict[str, str]:
    with pytest.raises(InputError) as caught:
        read_settings(env(**inputs))
    return {problem.place.file: problem.message for problem in caught.value.problems}


def env(**inputs: str) -> dict[str, str]:
    return {"GITHUB_WORKSPACE": WORKSPACE} | {
        f"INPUT_{name.replace('_', '-').upper()}": value for name, value in inputs.items()
    }


def test_settings__nothing_given() -> None:
    assert read_settings({}) == ActionInputs()


def test_settings__everything_given() -> None:
    settings = read_settings(
        env(
            config="ci/evalward.yml",
            suites="bash-tools, commands\n bash-tools\n",
            targets="oracle,replay:haiku",
            trials=" 3 ",
            baseline="b.json",
            profile="release",
            report="out/report.json",
            fail_on="never",
            comment="failures",
            comment_id="gate-2",
            status="evalward / gate",
            github_token="ghs_secret",
            output_dir="out",
            working_directory="packages/a",
        )
    )

    assert settings == ActionInputs(
        config="ci/evalward.yml",
        suites=("bash-tools", "commands"),
        targets=("oracle", "replay:haiku"),
        trials=3,
        baseline="b.json",
        profile="release",
        report="out/report.json",
        fail_on="never",
        comment="failures",
        comment_id="gate-2",
        status="evalward / gate",
        github_token="ghs_secret",
        output_dir="out",
        working_directory="packages/a",
    )


@pytest.mark.parametrize("name", ["a\nb", "x" * 101, "a\x1bb"])
def test_settings__status_name(name: str) -> None:
    assert "input status" in problems(status=name)


def test_settings__token_is_in_no_repr() -> None:
    assert "ghs_secret" not in repr(read_settings(env(github_token="ghs_secret")))


def test_settings__hyphens_are_kept() -> None:
    assert read_settings({"INPUT_FAIL_ON": "never"}).fail_on is None


def test_settings__all_mistakes_at_once() -> None:
    found = problems(
        trials="0",
        fail_on="regresion",
        comment="sometimes",
        comment_id="a--b",
        github_token="two words",
        config="../evalward.yml",
        working_directory="/etc",
    )

    assert set(found) == {
        f"input {name}"
        for name in ("trials", "fail-on", "comment", "comment-id", "github-token", "config", "working-directory")
    }
    assert "two words" not in str(found)


@pytest.mark.parametrize("trials", ["0", "101", "-1", "1.5", "1_0", "٣", "many"])
def test_settings__trials_out_of_bounds(trials: str) -> None:
    assert "input trials" in problems(trials=trials)


@pytest.mark.parametrize(
    ("given", "directory", "relative"),
    [
        ("evalward.yml", ".", "evalward.yml"),
        ("./a//b/../evalward.yml", ".", "a/evalward.yml"),
        ("../evalward.yml", "packages", "../evalward.yml"),
        (f"{WORKSPACE}/packages/evalward.yml", "packages", "evalward.yml"),
        (f"{WORKSPACE}/evalward.yml", "packages", "../evalward.yml"),
    ],
)
def test_settings__paths_in_the_workspace(given: str, directory: str, relative: str) -> None:
    assert read_settings(env(config=given, working_directory=directory)).config == relative


@pytest.mark.parametrize(
    "path", ["..", "../x", "a/../../x", "/etc/passwd", f"{WORKSPACE}-other/x", f"{WORKSPACE}/../x", "a\nb"]
)
@pytest.mark.parametrize("name", ["config", "baseline", "report", "output-dir", "working-directory"])
def test_settings__paths_out_of_the_workspace(name: str, path: str) -> None:
    assert f"input {name}" in problems(**{name: path})


@pytest.mark.parametrize("given", [f"{WORKSPACE}/packages/a", "packages/a", "./packages/b/../a/"])
def test_settings__working_directory(given: str) -> None:
    assert read_settings(env(working_directory=given)).working_directory == "packages/a"


def test_runner__reads_what_the_runner_tells() -> None:
    runner = read_runner(
        {
            "GITHUB_WORKSPACE": WORKSPACE,
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_REPOSITORY": "o/r",
            "GITHUB_OUTPUT": "/github/file_commands/output",
            "GITHUB_STEP_SUMMARY": "",
            "GITHUB_RUN_ID": "123",
            "GITHUB_RUN_ATTEMPT": "2",
            "GITHUB_API_URL": "https://ghes.example/api/v3",
            "GITHUB_SERVER_URL": "https://ghes.example",
            "PATH": "/bin",
        }
    )

    assert (runner.output, runner.summary) == (Path("/github/file_commands/output"), None)
    assert (runner.run_id, runner.run_attempt, runner.search_path) == (123, 2, "/bin")
    assert runner.api_url == "https://ghes.example/api/v3"
    assert runner.run_url == "https://ghes.example/o/r/actions/runs/123"


def test_runner__names_all_that_is_missing() -> None:
    with pytest.raises(InputError) as caught:
        read_runner({"GITHUB_REPOSITORY": "o/r", "GITHUB_WORKSPACE": ""})

    assert [problem.message for problem in caught.value.problems] == [
        "GITHUB_WORKSPACE is not set",
        "GITHUB_EVENT_PATH is not set",
    ]


ARTIFACT = "https://github.com/octo-org/octo-repo/actions/runs/20/artifacts/3001"


def test_report_url__is_an_artifact_of_this_repository() -> None:
    found = read_settings(env(mode="link", report_url=f" {ARTIFACT}\n") | {"GITHUB_REPOSITORY": "octo-org/octo-repo"})
    assert (found.mode, found.report_url) == ("link", ARTIFACT)


def test_report_url__empty_is_no_mistake() -> None:
    assert read_settings(env(mode="link", report_url="")).report_url == ""


def test_report_url__is_for_the_mode_that_links() -> None:
    assert "no meaning without" in problems(report_url=ARTIFACT)["input report-url"]
    assert "input mode" in problems(mode="link", publish="measured")


def test_report_url__without_a_repository_is_a_mistake() -> None:
    assert "input report-url" in problems(mode="link", report_url=ARTIFACT)
