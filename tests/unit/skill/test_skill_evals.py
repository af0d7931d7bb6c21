"""Evals as they lie in repositories: skill-creator's form and trigger lists in their variants, and cases of ours."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from support.skills import EVALS, PDF, QUERIES, TRIGGERS, XLSX, loaded, refused, warned

OWN = """\
- id: fill
  skill: pdf
  prompt: Fill the form
  files: {form.pdf: data/form.pdf, more: data/more}
  checks:
    - {type: file_exists, path: filled.pdf}
  solution: [cp form.pdf filled.pdf]
- id: routed
  prompt: Sum up this table
  should_trigger: xlsx
  should_not_trigger: [pdf]
- {id: none, skill: pdf, prompt: Good morning, should_trigger: false}
"""


def test_evals_of_skill_creator_are_read_in_all_their_forms(tmp_path: Path) -> None:
    evals = [
        {"id": 0, "prompt": "Merge a.pdf", "expected_output": "one file", "files": ["evals/files/a.pdf"]}
        | {"expectations": ["It exists", "It exists", "It has two pages"]},
        {
            "id": 1,
            "eval_name": "Fill the Form!",
            "prompt": "Fill",
            "assertions": [{"id": "x", "text": "Filled"}, "Saved"],
        },
        {
            "id": 2,
            "name": "fill the form",
            "prompt": "Fill evals/files/a.pdf",
            "files": ["files/a.pdf"],
            "expectations": ["F"],
        },
        {"prompt": "Only words", "expected_output": "A page"},
        {"id": 4, "prompt": "/pdf merge", "expectations": ["ok"], "must_have": ["x"], "scorers": []},
        {"id": 5, "prompt": "Write a poem", "expected_output": "Should NOT trigger the skill"},
        {"id": 6, "prompt": "Nothing decides"},
    ]
    files = {EVALS: {"skill_name": "pdf-tools", "evals": evals}, "skills/pdf/evals/files/a.pdf": "%PDF"}
    found = loaded(tmp_path, files)
    assert [case.id for case in found.cases][:4] == [
        "pdf/0",
        "pdf/fill-the-form",
        "pdf/fill-the-form-2",
        found.cases[3].id,
    ]
    merge, named, again, words, forced, poem = found.cases
    assert (merge.asks, merge.skill, merge.category, merge.wants, merge.depends) == (
        "task",
        "pdf",
        "pdf",
        None,
        ["pdf"],
    )
    assert merge.expectations == ["It exists", "It has two pages"]
    assert merge.files == {"a.pdf": "skills/pdf/evals/files/a.pdf"}
    assert list(again.files) == ["evals/files/a.pdf"]
    assert merge.place.file == EVALS
    assert named.expectations == ["Filled", "Saved"]
    assert words.expectations == ["What came of it is as described: A page"]
    assert (forced.forced, merge.forced) == (True, False)
    assert (poem.asks, poem.wants, poem.unwanted) == ("trigger", None, ["pdf"])
    said = "\n".join(found.warnings)
    for words_said in (
        'skill_name is "pdf-tools", and the skill is called "pdf"',
        "these keys are not read, and nothing is checked by them: must_have, scorers",
        "the skill should not load: it is taken for a query",
        "nothing decides how this eval went, so it is left out",
    ):
        assert words_said in said


@pytest.mark.parametrize("name", ["evals/trigger-eval.json", "evals/triggers.json", "trigger_evals.json"])
@pytest.mark.parametrize("around", [False, True])
def test_trigger_lists_are_read_in_all_their_forms(tmp_path: Path, name: str, around: bool) -> None:
    items: list[dict[str, Any]] = [
        *QUERIES,
        {"prompt": "Sum this column", "should_trigger": "xlsx", "should_not_trigger": ["pdf"]},
        {"query": "Hello", "should_trigger": "no"},
        {"query": "Nothing of all", "should_trigger": None, "should_not_trigger": "xlsx"},
    ]
    files = {f"skills/pdf/{name}": {"evals": items} if around else items, "skills/xlsx/SKILL.md": XLSX}
    cases = loaded(tmp_path, files).cases
    assert [(case.wants, case.unwanted) for case in cases] == [
        ("pdf", []),
        (None, ["pdf"]),
        ("xlsx", ["pdf"]),
        (None, ["pdf"]),
        (None, ["pdf", "xlsx"]),
    ]
    assert all(case.asks == "trigger" and case.id.startswith("pdf/trigger/") for case in cases)
    assert cases[2].depends == ["pdf", "xlsx"]
    assert cases[0].id.startswith("pdf/trigger/merge-these-two-pdf-files-")


def test_ids_and_definitions_of_queries_stay_in_any_order_of_the_list(tmp_path: Path) -> None:
    first = {case.id: case.definition for case in loaded(tmp_path / "a", {TRIGGERS: QUERIES}).cases}
    again = {case.id: case.definition for case in loaded(tmp_path / "b", {TRIGGERS: QUERIES[::-1]}).cases}
    assert first == again
    turned = [{**each, "should_trigger": not each["should_trigger"]} for each in QUERIES]
    other = {case.id: case.definition for case in loaded(tmp_path / "c", {TRIGGERS: turned}).cases}
    assert other.keys() == first.keys()
    assert not other.items() & first.items()


def test_the_skill_is_no_part_of_a_definition_and_a_file_is(tmp_path: Path) -> None:
    evals = {"evals": [{"id": 1, "prompt": "Merge", "files": ["a.txt"], "expectations": ["x"]}]}
    files = {EVALS: evals, "skills/pdf/a.txt": "1"}
    before = loaded(tmp_path / "a", files)
    skill = loaded(tmp_path / "b", {**files, "skills/pdf/SKILL.md": f"{PDF}\nMore."})
    file = loaded(tmp_path / "c", {**files, "skills/pdf/a.txt": "2"})
    assert before.cases[0].definition == skill.cases[0].definition != file.cases[0].definition
    assert before.skills[0].digest != skill.skills[0].digest


def test_cases_of_ours(tmp_path: Path) -> None:
    files = {
        "cases/own.yaml": OWN,
        "data/form.pdf": "f",
        "data/more/x/y.txt": "y",
        "skills/xlsx/SKILL.md": XLSX,
        "cases/more.jsonl": {"id": "line", "skill": "xlsx", "prompt": "Sum", "expectations": ["A sum"]},
        "evals/evals.json": {"skill_name": "xlsx", "evals": [{"id": 1, "prompt": "Sum", "expectations": ["A sum"]}]},
    }
    fill, routed, none, *others = loaded(
        tmp_path, files, cases=["cases/own.yaml", "cases/more.jsonl", "evals/*.json"]
    ).cases
    assert fill.files == {"form.pdf": "data/form.pdf", "more/x/y.txt": "data/more/x/y.txt"}
    assert (fill.checks[0].type, fill.decides, fill.rubric) == ("file_exists", True, None)
    assert (routed.skill, routed.wants, routed.unwanted) == ("xlsx", "xlsx", ["pdf"])
    assert (none.asks, none.wants, none.unwanted) == ("trigger", None, ["pdf"])
    assert [case.id for case in others] == ["line", "xlsx/1"]
    rubric = others[0].rubric
    assert rubric is not None
    assert [(each.id, each.description) for each in rubric.criteria] == [("e1", "A sum")]


@pytest.mark.parametrize(
    ("item", "words"),
    [
        (3, "an eval is the number 3. Write an object"),
        ({"prompt": " "}, "prompt: the eval asks nothing. Add prompt: what the agent is asked."),
        ({"query": "Merge"}, "nothing says whether the skill should load. Add should_trigger."),
        ({"query": "a", "should_trigger": "pfd"}, 'the suite has no skill "pfd". The suite has: pdf.'),
        (
            {"query": "a", "should_trigger": 1},
            "should_trigger is the number 1. Write true, false, or the name of",
        ),
        ({"query": "a", "should_trigger": True, "should_not_trigger": ["x"]}, 'there is no skill "x".'),
        (
            {"query": "a", "should_trigger": True, "should_not_trigger": 1},
            "should_not_trigger must be a list of skills",
        ),
        ({"query": "a", "should_trigger": True, "should_not_trigger": ["pdf"]}, '"pdf" should trigger, and shouldn\'t'),
        (
            {"query": "/pdf a", "should_trigger": True},
            "the query names the skill itself (/pdf), which loads",
        ),
        ({"query": "/me:pdf a", "should_trigger": True}, "the query names the skill itself (/me:pdf)"),
        ({"query": "use $pdf, a", "should_trigger": False}, "the query names the skill itself ($pdf)"),
        ({"prompt": "a", "files": "x"}, "files must be a list of paths. Write paths from the skill's folder."),
        ({"prompt": "a", "expectations": "x"}, 'expectations is the text "x". Write a list of sentences.'),
        ({"prompt": "a", "expectations": [{"id": 3}]}, "expectations[0]: an expectation has no sentence."),
        ({"prompt": "a", "expectations": ["x" * 2001]}, "an expectation is longer than 2,000 characters."),
        ({"prompt": "a", "expectations": [f"{n}" for n in range(31)]}, "the eval has more than 30 expectations."),
        ({"prompt": "a", "expectations": ["x"], "files": ["b.txt"]}, 'files: there is no file "b.txt" in the skill\'s'),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_remedy(tmp_path: Path, item: Any, words: str) -> None:
    text = f'{{"evals": [\n {json.dumps(item)}\n]}}'
    said = refused(tmp_path, {EVALS: text})
    assert f"{EVALS}:2: " in said
    assert words in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "evals.json:1: the file is not JSON: "),
        ("3", "evals.json:1: there is no list of evals in the file."),
        ('{"a": []}', "evals.json:1: there is no list of evals in the file."),
        ('{"evals": [], "evals": []}', "the key 'evals' occurs in it twice"),
        ("[" * 200_000, "the file is not JSON: it is nested too deeply."),
        (b"\xff\xfe", "evals.json: the file is not UTF-8 text. Save it as UTF-8."),
    ],
)
def test_files_that_are_no_evals(tmp_path: Path, text: str | bytes, words: str) -> None:
    assert words in refused(tmp_path, {EVALS: text})


def test_evals_elsewhere_say_whose_they_are(tmp_path: Path) -> None:
    evals = {"evals": [{"id": 1, "prompt": "Sum", "expectations": ["x"]}]}
    both = {"skills/xlsx/SKILL.md": XLSX, "evals/evals.json": evals}
    assert "nothing says whose evals these are. Add skill_name" in refused(tmp_path / "a", both, cases="evals/*.json")
    named = {**both, "evals/evals.json": {**evals, "skill_name": "xslx"}}
    assert 'skill_name: the suite has no skill "xslx". Did you mean xlsx?' in refused(
        tmp_path / "b", named, cases="evals/*.json"
    )
    assert [case.id for case in loaded(tmp_path / "c", {"evals/evals.json": evals}, cases="evals/*.json").cases] == [
        "pdf/1"
    ]


def test_mistakes_of_our_own_cases(tmp_path: Path) -> None:
    cases = """\
- {id: a, prompt: x}
- {id: b, skill: pfd, prompt: x}
- {id: c, prompt: "/pdf x", should_trigger: pdf}
- {id: d, skill: pdf, prompt: x, should_not_trigger: [nobody]}
- {id: e, skill: pdf, prompt: x, should_trigger: true, expectations: [x]}
- {id: f, skill: pdf, prompt: x, files: {"../x": a}}
"""
    said = refused(tmp_path, {"c.yaml": cases, "skills/xlsx/SKILL.md": XLSX}, cases="c.yaml").splitlines()
    assert said == [
        "c.yaml:4: `should_not_trigger` belongs to queries: add `should_trigger`.",
        "c.yaml:5: a query (`should_trigger`) has no `expectations`: make two cases of it.",
        "c.yaml:6: files.../x.[key]: the path '../x' leaves the fixture.",
        "c.yaml:1: a: the case doesn't say which skill it is about. Add skill: NAME.",
        'c.yaml:2: b: skill: the suite has no skill "pfd". The suite has: pdf, xlsx.',
        "c.yaml:3: c: prompt: the query names the skill itself (/pdf), which loads it whatever its description says. "
        "Ask as somebody would who doesn't know the skill.",
    ]
    task = "- {id: f, skill: pdf, prompt: x, expectations: [x], files: {a: ../b, .claude/x: SKILL.md, c: missing}}"
    said = refused(tmp_path / "f", {"c.yaml": task}, cases="c.yaml").splitlines()
    assert said == [
        'c.yaml:1: f: files: the path "../b" leads out of the configuration\'s folder. '
        "Paths count from the configuration's folder.",
        'c.yaml:1: f: files: there is no file "SKILL.md". Paths count from the configuration\'s folder.',
        'c.yaml:1: f: files: there is no file "missing". Paths count from the configuration\'s folder.',
    ]


def test_queries_that_repeat_or_contradict_each_other(tmp_path: Path) -> None:
    again = [*QUERIES, {"query": "merge  these two pdf files", "should_trigger": True}]
    found = loaded(tmp_path / "a", {TRIGGERS: again})
    assert len(found.cases) == 2
    assert "is already at skills/pdf/evals/trigger-evals.json:1. Remove one of them." in "\n".join(found.warnings)
    against = [*QUERIES, {"query": QUERIES[0]["query"], "should_trigger": False}]
    said = refused(tmp_path / "b", {TRIGGERS: against})
    assert 'the query "Merge these two PDF files" should load none of the suite\'s skills, and at' in said
    other = {"skills/xlsx/SKILL.md": XLSX, "skills/xlsx/evals/triggers.json": QUERIES[:1], TRIGGERS: QUERIES}
    assert "should load xlsx, and at skills/pdf/evals/trigger-evals.json:1 pdf" in warned(tmp_path / "c", other)


def test_what_queries_lack(tmp_path: Path) -> None:
    only = [{"query": f"Merge the PDF {number}", "should_trigger": True} for number in range(4)]
    never = [{**each, "should_trigger": False} for each in only]
    far = [*only, {"query": "Good morning", "should_trigger": False}]
    near = [*only, {"query": "Merge my two branches", "should_trigger": False}]
    assert "no query should leave pdf alone. Add near misses" in warned(tmp_path / "a", {TRIGGERS: only})
    assert "no query should load pdf. Add some that should" in warned(tmp_path / "b", {TRIGGERS: never})
    assert "no query that should leave pdf alone comes near it" in warned(tmp_path / "c", {TRIGGERS: far})
    assert warned(tmp_path / "d", {TRIGGERS: near}) == ""
