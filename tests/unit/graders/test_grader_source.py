"""How a check names a grader, and which files of the repository it is made of."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.graders.source import Reference, is_grader, parse_reference, read_source
from evalward.suites.bash.checks import FORMS, ParsedCheck, parse_check

FUNCTION = "checks.totals:right"


def put(root: Path, *paths: str, text: str = "x = 1\n") -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, "utf-8")


@pytest.mark.parametrize("text", [FUNCTION, "a.b.c:f", "./total.sh", "graders/total.py", "a/b/c"])
def test_names_of_graders(text: str) -> None:
    assert is_grader(text)
    assert parse_check(text) == ParsedCheck("grader", (text,))


@pytest.mark.parametrize("text", [*(form.usage for form in FORMS.values()), "file_exists:/a/b", "stdout_regex:^./a$"])
def test_other_checks_are_none(text: str) -> None:
    assert not is_grader(text)


@pytest.mark.parametrize("text", ["totals:right", "a.b:", "a.b:f()", "a.b:f:g", "a..b:f", "1a.b:f", "nothing"])
def test_what_is_neither_is_an_unknown_check(text: str) -> None:
    with pytest.raises(ValueError, match="unknown check"):
        parse_check(text)


@pytest.mark.parametrize("text", ["/bin/true", "../x.sh", "a/../../x", "./", ".//..", "a/\0b", "graders/"])
def test_scripts_lie_in_the_repository(text: str) -> None:
    with pytest.raises(ValueError, match="not a script of the repository"):
        parse_reference(text)


@pytest.mark.parametrize(
    ("text", "path", "belongs"),
    [
        ("a.b.c:f", "a/b/c.py", True),
        ("a.b.c:f", "a/b/c/__init__.py", True),
        ("a.b.c:f", "a/b/helper.py", True),
        ("a.b.c:f", "a/b/deep/helper.py", True),
        ("a.b.c:f", "a/__init__.py", True),
        ("a.b.c:f", "a/other.py", False),
        ("a.b.c:f", "a/b/cases.jsonl", False),
        ("a.b.c:f", "a/bb/c.py", False),
        ("a.b.c:f", "a/b/__pycache__/c.py", False),
        ("g/total.py", "g/common.py", True),
        ("g/total.py", "__init__.py", False),
        ("g/total.sh", "g/total.sh", True),
        ("g/total.sh", "g/common.py", False),
        ("./total.py", "total.py", True),
        ("./total.py", "other.py", False),
    ],
)
def test_files_of_a_grader(text: str, path: str, belongs: bool) -> None:
    assert parse_reference(text).belongs(path) is belongs


def test_a_function_comes_with_the_python_files_of_its_folder(tmp_path: Path) -> None:
    put(tmp_path, "a/b/c.py", "a/b/more.py", "a/__init__.py", "a/other.py", "a/b/data.json", "a/b/__pycache__/c.py")
    (tmp_path / "a/b/link.py").symlink_to("/etc/passwd")
    source = read_source(tmp_path, "a.b.c:f")
    assert list(source.files) == ["a/__init__.py", "a/b/c.py", "a/b/more.py"]
    assert source.installed == ""


def test_what_is_read_is_what_belongs(tmp_path: Path) -> None:
    """The base's files are chosen by `belongs`, the head's are found: both sides must have the same definition."""
    every = ["a/b/c.py", "a/b/d/e.py", "a/__init__.py", "a/x.py", "y.py", "a/b/z.sh", "a/b/node_modules/n.py"]
    put(tmp_path, *every)
    for text in ("a.b.c:f", "a/b/c.py", "a/b/z.sh", "./y.py"):
        reference = parse_reference(text)
        assert set(read_source(tmp_path, text).files) == {path for path in every if reference.belongs(path)}


def test_every_byte_is_in_the_fingerprint(tmp_path: Path) -> None:
    put(tmp_path, "checks/totals.py", "checks/common.py", "elsewhere.py")
    before = read_source(tmp_path, FUNCTION).fingerprint
    put(tmp_path, "elsewhere.py", text="y = 2\n")
    assert read_source(tmp_path, FUNCTION).fingerprint == before
    put(tmp_path, "checks/common.py", text="x = 2\n")
    after = read_source(tmp_path, FUNCTION).fingerprint
    assert after != before
    put(tmp_path, "checks/totals.py", text="x = 2\n")
    assert read_source(tmp_path, FUNCTION).fingerprint not in {before, after}


def test_whether_a_script_can_be_run_is_in_the_fingerprint(tmp_path: Path) -> None:
    put(tmp_path, "g.sh", text="exit 0\n")
    before = read_source(tmp_path, "./g.sh")
    (tmp_path / "g.sh").chmod(0o755)
    assert read_source(tmp_path, "./g.sh").fingerprint != before.fingerprint
    assert not before.files["g.sh"].program


def test_an_installed_module_is_named_with_its_version_and_not_imported(tmp_path: Path) -> None:
    source = read_source(tmp_path, "pydantic.does_not_matter:f")
    assert source.installed.startswith("pydantic 2.")
    assert not source.files


def test_a_module_of_the_repository_comes_first(tmp_path: Path) -> None:
    put(tmp_path, "pydantic/mine.py")
    assert list(read_source(tmp_path, "pydantic.mine:f").files) == ["pydantic/mine.py"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FUNCTION, r"there is no module checks.totals: neither checks/totals.py or checks/totals/__init__.py nor"),
        ("os.path:exists", "there is no module os.path"),
        ("./gone.sh", "there is no script gone.sh"),
        ("./folder.sh", "there is no script folder.sh"),
        ("./plain", "the script plain isn't executable"),
        ("./link.sh", "link.sh.* is a symbolic link"),
        ("inner/.git/x.sh", "leads into .git"),
        ("./big.sh", "larger than"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, text: str, why: str) -> None:
    put(tmp_path, "plain")
    (tmp_path / "folder.sh").mkdir()
    (tmp_path / "link.sh").symlink_to("/etc/passwd")
    with (tmp_path / "big.sh").open("wb") as file:
        file.truncate(9 << 20)
    with pytest.raises(ValueError, match=why):
        read_source(tmp_path, text)


def test_a_folder_with_too_much_beside_the_grader_is_told(tmp_path: Path) -> None:
    put(tmp_path, FUNCTION.replace(".", "/").partition(":")[0] + ".py", *(f"checks/f{n}.py" for n in range(501)))
    with pytest.raises(ValueError, match="more than 500 Python files next to the grader"):
        read_source(tmp_path, FUNCTION)


def test_a_module_has_two_forms() -> None:
    assert Reference("a.b:f", module="a.b", function="f").files == ("a/b.py", "a/b/__init__.py")
