"""SKILL.md as agents read it, the files of a skill's folder, and what is odd about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from evalward.suites.skill.front_matter import split_front_matter
from evalward.suites.skill.skill_file import read_skill
from evalward.suites.skill.subject import subject_of_skills
from support.fuzzing.folders import write_files
from support.skills import PDF, QUERIES, TRIGGERS, XLSX, loaded, refused, warned

ASKED = {TRIGGERS: [*QUERIES]}


def skill_text(front: str, body: str = "Use pdftk.\n") -> str:
    return f"---\n{front}\n---\n{body}"


def pdf(front: str, body: str = "Use pdftk.\n") -> str:
    return skill_text(f"name: pdf\ndescription: a\n{front}", body)


def test_front_matter_is_read_as_yaml_and_else_line_by_line() -> None:
    front, body = split_front_matter(
        "---\nname: pdf\ndescription: >\n  Merges\n  files.\nmetadata: {a: 1}\n---\n# PDF\n"
    )
    assert (front.text("name"), front.text("description"), body) == ("pdf", "Merges files.", "# PDF\n")
    assert (front.line("metadata"), front.there, front.broken) == (6, True, "")
    front, body = split_front_matter('---\nname: pdf\ndescription: "Merges": files\n---\nx')
    assert (front.text("description"), front.broken != "", front.broken_line, body) == ('"Merges": files', True, 3, "x")
    front, body = split_front_matter("\ufeff---\r\nname: 7\r\n---\r\nx\r\n")
    assert (front.text("name"), front.bom, front.crlf, body) == ("7", True, True, "x\n")
    for text in ("# PDF\n", "---\nname: pdf\n", "", "--- \n- a\n---"):
        front, body = split_front_matter(text)
        assert front.values == {}
        assert front.there == text.startswith("--- ")


def test_a_skill_is_its_folder_without_its_evals(tmp_path: Path) -> None:
    files = {
        "s/pdf/SKILL.md": PDF,
        "s/pdf/scripts/merge.py": "1",
        "s/pdf/evals/evals.json": "{}",
        "s/pdf/trigger-eval.json": "[]",
        "s/pdf/scripts/__pycache__/x.pyc": "",
        "s/pdf/references/evals/a.md": "",
    }
    write_files(tmp_path, {name: text.encode() for name, text in files.items()})
    (tmp_path / "s/pdf/scripts/merge.py").chmod(0o755)
    skill = read_skill(tmp_path, "s/pdf/SKILL.md")
    assert sorted(skill.files) == ["SKILL.md", "references/evals/a.md", "scripts/merge.py"]
    assert skill.files["scripts/merge.py"].startswith("x:")
    assert (skill.name, skill.folder, skill.folder_name) == ("pdf", "s/pdf", "pdf")
    subject = subject_of_skills([skill], [])
    assert sorted(subject.parts) == ["skill-description:pdf", "skill:pdf"]
    assert subject.texts[subject.parts["skill-description:pdf"]] == "pdf: Merges, splits and fills PDF files.\n"


def test_a_skill_at_the_top_is_the_repository_without_what_is_hidden(tmp_path: Path) -> None:
    names = ("SKILL.md", "evalward.yml", ".github/x.yml", ".evalward/baseline.json", "evals/evals.json", "lib/a.py")
    write_files(tmp_path, {name: PDF.encode() for name in (*names, "evalward-out/report.json", "node_modules/x.js")})
    skill = read_skill(tmp_path, "SKILL.md")
    assert sorted(skill.files) == ["SKILL.md", "lib/a.py"]
    assert skill.folder == "."
    assert skill.own_evals[0] == "evals/evals.json"


def test_skills_that_cannot_be_installed(tmp_path: Path) -> None:
    assert "a skill's file is called SKILL.md" in refused(
        tmp_path / "a", {"skills/pdf/README.md": ""}, skills="skills/*/*"
    )
    top = {"SKILL.md": "Just words"}
    assert "SKILL.md:1: the skill has no name. Add name: NAME" in refused(tmp_path / "b", top, skills="SKILL.md")
    odd = {"SKILL.md": skill_text('name: "../x"\ndescription: y')}
    assert "SKILL.md:2: the name \"../x\" can't be a folder's." in refused(tmp_path / "c", odd, skills="SKILL.md")
    twice = {"skills/b/SKILL.md": PDF}
    said = refused(tmp_path / "d", twice)
    assert said.startswith('skills/pdf/SKILL.md:2: the skill of skills/b/SKILL.md is called "pdf", too.')
    beside = {"others/pdf/SKILL.md": PDF}
    assert 'is called "pdf", too' in refused(tmp_path / "e", beside, distractors="others/*/SKILL.md")
    (tmp_path / "f/skills/pdf").mkdir(parents=True)
    (tmp_path / "f/skills/pdf/secret").symlink_to("/etc/passwd")
    assert "skills/pdf/secret: is a link, and links are not followed." in refused(tmp_path / "f", {})
    assert "the file is not UTF-8 text" in refused(tmp_path / "g", {"skills/pdf/SKILL.md": b"---\n\xff"})
    assert "no file matches 'none/*'" in refused(tmp_path / "h", {}, distractors="none/*")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Just words", "there is no front matter: codex and opencode leave the skill out"),
        (
            skill_text('name: pdf\ndescription: "a": b'),
            "pdf/SKILL.md:3: the front matter is not valid YAML",
        ),
        (skill_text("name: pdf\nname: pdf\ndescription: a"), "front matter: "),
        (f"\ufeff{PDF}", "begins with a byte order mark: codex leaves the skill out"),
        (PDF.replace("\n", "\r\n"), "its lines end as on Windows (CR LF)"),
        (skill_text("description: a"), 'the skill has no name: the folder\'s is used, "pdf". Add name: NAME.'),
        (
            skill_text("name: P D F\ndescription: a"),
            "the name \"P D F\" can't be a folder's: the skill is installed",
        ),
        (
            skill_text("name: Pdf\ndescription: a"),
            'SKILL.md:2: name: the name "Pdf" is not as the',
        ),
        (
            skill_text("name: pdfs\ndescription: a"),
            'the name is "pdfs", the folder is called "pdf": agents',
        ),
        (skill_text("name: pdf"), "there is no description: codex and opencode leave the skill out"),
        (skill_text(f"name: pdf\ndescription: {'a' * 1025}"), "has 1,025 characters: codex cuts it at 1,024"),
        (skill_text("name: pdf\ndescription: for <b>"), "the description has < or > in it"),
        (
            pdf("licence: MIT"),
            '"licence" is a key that agents don\'t know. Did you mean',
        ),
        (pdf("compatibility: " + "a" * 501), "compatibility: it has more than 500"),
        (
            pdf("", "\n"),
            "the body is empty: an agent that loads the skill learns nothing",
        ),
        (pdf("disable-model-invocation: true"), "claude-code doesn't show the skill"),
        (pdf("", "[a](b/c.md)"), 'it refers to "b/c.md", and there is no such file'),
        (
            pdf("", "Run `scripts/x.py`."),
            'it refers to "scripts/x.py", and there is no',
        ),
        (pdf("", "[a](../b.md)"), 'it refers to "../b.md", outside of its folder'),
        (
            pdf("", "[a](evals/x.md)"),
            'it refers to "evals/x.md": evals are not installed',
        ),
    ],
)
def test_what_is_odd_is_a_warning(tmp_path: Path, text: str, words: str) -> None:
    said = warned(tmp_path, {"skills/pdf/SKILL.md": text, **ASKED})
    assert words in said
    assert all(line.startswith("skills/pdf/SKILL.md") for line in said.splitlines())


def test_nothing_is_odd_about_a_plain_skill(tmp_path: Path) -> None:
    body = (
        "[a](a%20b.md) [c](https://x.org/y) [d](#here) [e](a%20b.md#top) `scripts/{name}.py`\n```\n[f](gone.md)\n```\n"
    )
    text = skill_text("name: pdf\ndescription: Merges\nlicense: MIT\nallowed-tools: Bash", body)
    assert (
        warned(tmp_path, {"skills/pdf/SKILL.md": text, "skills/pdf/a b.md": "", "skills/pdf/sub/x": "", **ASKED}) == ""
    )


def test_a_skill_without_evals_and_a_list_that_is_too_long(tmp_path: Path) -> None:
    long = {f"others/s{n}/SKILL.md": skill_text(f"name: s{n}\ndescription: {'a' * 1000}") for n in range(7)}
    said = warned(tmp_path, {"skills/xlsx/SKILL.md": XLSX, **long, **ASKED}, distractors="others/*/SKILL.md")
    assert "skills/xlsx/SKILL.md: the skill has no evals." in said
    assert "the names and descriptions of 9 skills have 7,1" in said
    assert "some skills by their names only from about 6,000 on" in said


def test_what_a_suite_of_skills_is_made_of(tmp_path: Path) -> None:
    found = loaded(tmp_path, {"others/far/SKILL.md": XLSX, **ASKED}, distractors=["others/*/SKILL.md"])
    assert ([each.name for each in found.skills], [each.name for each in found.distractors]) == (["pdf"], ["xlsx"])
    parts = subject_of_skills(found.skills, found.distractors).parts
    assert sorted(parts) == ["distractors", "skill-description:pdf", "skill:pdf"]
