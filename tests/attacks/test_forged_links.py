"""The step that links the comment to the page: what a pull request, a model or another bot could try to get into it."""

from __future__ import annotations

import pytest

from evalward.github.client import GitHub
from evalward.github.comment import Marker, Posted, PullRequest, comment_body
from evalward.github.report_link import link_report, linked
from evalward.github.settings import read_settings
from evalward.records.problem import InputError
from evalward.records.verdict import Judgement
from evalward.render.anchors import case_anchor, link_place
from evalward.render.markdown import comment
from support import comparisons, judgements
from support.github_api import HEAD, REPOSITORY, TOKEN, FakeGitHub
from support.hostile import fill
from support.markdown import rendered, tags

MARKER = Marker("evalward", HEAD, 20, 1)
URL = f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/3001"
FORGED = case_anchor("s", "t", "forged")
PLACE = link_place(FORGED)
PULL = PullRequest(REPOSITORY, 7)


def posted(judgement: Judgement, marker: Marker = MARKER) -> str:
    return comment_body(comment(judgement, judgements.context(marker=marker.format())), marker)


@pytest.mark.parametrize(
    "url",
    [
        f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/3001) [x](https://evil.example",
        f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/3001#x",
        f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/3001?x=1",
        f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/3001/../../../../../../evil",
        f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/3001\n\n# passed",
        f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/٣",
        f"https://github.com/{REPOSITORY}/actions/runs/20/artifacts/" + "9" * 21,
        f"https://github.com/{REPOSITORY}/../evil/repo/actions/runs/20/artifacts/1",
        f"https://github.com/{REPOSITORY}-evil/actions/runs/20/artifacts/1",
        f"https://github.com/{REPOSITORY}/raw/main/report.html",
        "https://github.com/evil/repo/actions/runs/20/artifacts/3001",
        f"https://github.com.evil.example/{REPOSITORY}/actions/runs/20/artifacts/3001",
        f"https://github.com@evil.example/{REPOSITORY}/actions/runs/20/artifacts/3001",
        f"http://github.com/{REPOSITORY}/actions/runs/20/artifacts/3001",
        "javascript:alert(1)",
        "//evil.example/x",
        "\u202e" + URL,
        URL + "\u200b",
    ],
)
def test_another_address__is_one_mistake(url: str) -> None:
    with pytest.raises(InputError) as caught:
        read_settings({"GITHUB_REPOSITORY": REPOSITORY, "INPUT_MODE": "link", "INPUT_REPORT-URL": url})
    [problem] = caught.value.problems
    assert problem.place.file == "input report-url"
    assert len(str(problem)) < 500
    assert str(problem).isprintable()


def test_another_server__is_a_mistake_where_the_runner_names_one() -> None:
    env = {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_SERVER_URL": "https://git.acme.example/", "INPUT_MODE": "link"}
    own = f"https://git.acme.example/{REPOSITORY}/actions/runs/20/artifacts/3001"
    assert read_settings({**env, "INPUT_REPORT-URL": own}).report_url == own
    with pytest.raises(InputError):
        read_settings({**env, "INPUT_REPORT-URL": URL})


HIDDEN_IN = [
    PLACE,
    f"x{PLACE}",
    f"- ❌ x{PLACE}",
    f"x\n- ❌ x{PLACE}\n",
    f"```\n- ❌ x{PLACE}\n```",
    f"`x`\n\n- ❌ x{PLACE}",
    f"x · [Report](https://evil.example){PLACE}",
    "### ✅ Evalward: passed",
]


@pytest.mark.parametrize("text", HIDDEN_IN)
def test_a_place_in_anybodys_text__gets_no_link(text: str) -> None:
    """In every text of a judgement: ids, details, commands, outputs. Only our own places are linked."""
    calm, hostile = (fill(judgements.several(), word) for word in ("calm", text))
    links = [tags(rendered(linked(posted(each), URL)), ["a"]) for each in (calm, hostile)]
    assert [len(each) for each in links] == [len(links[0])] * 2
    assert not any("evil.example" in link for link in links[1])
    assert FORGED not in [link.rpartition("#")[2] for link in links[1]]


@pytest.mark.parametrize("text", HIDDEN_IN)
def test_a_place_in_the_output_of_a_command__stays_as_it_is(text: str) -> None:
    case = comparisons.broken_case("one").model_copy(update={"command": text, "stderr": text})
    judgement = judgements.failed().model_copy(
        update={"comparison": comparisons.comparison(comparisons.run(cases=[case]))}
    )
    body = linked(posted(judgement), URL)
    assert body.count(URL) == 2
    assert f"#{FORGED}" not in body


def test_a_suite_whose_name_looks_like_a_block_of_code__hides_no_link() -> None:
    run = comparisons.run(suite="x``y", cases=[comparisons.broken_case("one")])
    judgement = judgements.failed().model_copy(update={"comparison": comparisons.comparison(run)})
    assert linked(posted(judgement), URL).count(URL) == 2


@pytest.fixture
def api() -> FakeGitHub:
    return FakeGitHub()


def link(api: FakeGitHub, marker: Marker = MARKER) -> Posted:
    with api, GitHub(TOKEN, api.url) as client:
        return link_report(client, PULL, marker, URL)


def test_another_bots_copy_of_our_comment__is_not_edited(api: FakeGitHub) -> None:
    body = posted(judgements.failed())
    api.add_comment(body, "evil[bot]")
    assert link(api).action == "skipped"
    assert api.bodies() == [body]
    assert not any(line.startswith("PATCH") for line in api.log())


@pytest.mark.parametrize(
    "theirs",
    [
        Marker("evalward", HEAD, 21, 1),
        Marker("evalward", HEAD, 20, 2),
        Marker("evalward", HEAD, 19, 1),
        Marker("evalward", "b" * 40, 20, 1),
        Marker("another-gate", HEAD, 20, 1),
    ],
)
def test_another_runs_comment__is_not_edited(api: FakeGitHub, theirs: Marker) -> None:
    """Of a newer run, of an older one, of another commit, of another gate: this run's page is not theirs."""
    body = posted(judgements.failed(), theirs)
    api.add_comment(body)
    done = link(api)
    assert done.action == "skipped"
    assert done.notice
    assert api.bodies() == [body]


def test_ours_among_others__is_the_only_one_edited(api: FakeGitHub) -> None:
    ours, copy = posted(judgements.failed()), posted(judgements.passed())
    api.add_comment(copy, "mallory")
    number = api.add_comment(ours)
    api.add_comment(posted(judgements.failed(), Marker("another-gate", HEAD, 20, 1)))
    assert link(api).url.endswith(str(number))
    assert [URL in body for body in api.bodies()] == [False, True, False]
