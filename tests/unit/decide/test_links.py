"""Links that lead to what a change changes, by their texts alone; where those can't tell, nothing is known of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalward.decide.links import MOST_LINKS, changed_links
from evalward.decide.unchanged import ChangeAtHand, SuiteTerms


@pytest.mark.parametrize(
    ("links", "file", "found", "opaque"),
    [
        ({"linkdir": "lib"}, "lib/srv.py", {"linkdir"}, {"linkdir"}),
        ({"linkdir": "lib/"}, "lib/deep/srv.py", {"linkdir"}, {"linkdir"}),
        ({"linkdir": "lib"}, "library/srv.py", set(), set()),
        ({"linksrv.py": "./lib/srv.py"}, "lib/srv.py", {"linksrv.py"}, set()),
        ({"linksrv.py": "lib/srv.py"}, "lib/other.py", set(), set()),
        ({"a/b/up": "../../lib"}, "lib/srv.py", {"a/b/up"}, {"a/b/up"}),
        ({"a/top": ".."}, "lib/srv.py", {"a/top"}, {"a/top"}),
        ({"here": "."}, "lib/srv.py", {"here"}, {"here"}),
        ({"second": "linkdir/srv.py", "linkdir": "lib"}, "lib/srv.py", {"linkdir", "second"}, {"linkdir", "second"}),
        ({"second": "a/first", "a/first": "../lib"}, "lib/x", {"a/first", "second"}, {"a/first", "second"}),
        ({"second": "first", "first": "lib/x"}, "lib/x", {"first", "second"}, set()),
        ({"a": "b", "b": "a"}, "lib/x", set(), set()),
    ],
)
def test_a_link_to_what_changed__is_found(links: dict[str, str], file: str, found: set[str], opaque: set[str]) -> None:
    changed = changed_links([file], (), links)
    assert changed.leading_to == dict.fromkeys(found, file)
    assert (set(changed.opaque), changed.unknown) == (opaque, [])


def test_a_link_into_a_changed_submodule__is_found() -> None:
    links = {"srv.py": "vend/sub/deep/srv.py"}
    assert changed_links(["vend/sub"], {"vend/sub"}, links).leading_to == {"srv.py": "vend/sub"}
    assert changed_links(["vend/sub"], (), links).leading_to == {}


@pytest.mark.parametrize("target", ["", "/usr/lib", "../out", "lib/../../out", "a/../lib"])
def test_where_the_text_can_not_tell__nothing_is_known(target: str) -> None:
    changed = changed_links(["other.py"], (), {"link": target})
    assert (changed.leading_to, changed.unknown) == ({}, ["link"])


def test_of_too_many_links__none_is_resolved() -> None:
    links = {f"link-{at}": "lib" for at in range(MOST_LINKS + 1)}
    assert len(changed_links(["lib/x"], (), links).unknown) == len(links)


PLACES = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map("/".join)
TARGETS = st.tuples(st.sampled_from(["", "../", "../../", "/"]), PLACES).map("".join)


@given(st.lists(PLACES, max_size=3), st.dictionaries(PLACES, TARGETS, max_size=8), st.data())
def test_the_order_of_the_links__decides_nothing(files: list[str], links: dict[str, str], data: st.DataObject) -> None:
    """And nothing is left to find: with what was found among the changed files, it finds the same."""
    opaque = [file for file in files if data.draw(st.booleans())]
    found = changed_links(files, opaque, links)
    other = changed_links(files, opaque, dict(data.draw(st.permutations(list(links.items())))))
    assert (other.leading_to.keys(), set(other.opaque)) == (found.leading_to.keys(), set(found.opaque))
    again = changed_links([*files, *found.leading_to], [*opaque, *found.opaque], links)
    assert again.leading_to.keys() == found.leading_to.keys()


def test_a_long_chain_in_the_worst_order__ends() -> None:
    links = {f"link-{at:04}": f"link-{at + 1:04}" for at in range(MOST_LINKS - 1)} | {"link-1999": "lib"}
    assert len(changed_links(["lib/x"], (), links).leading_to) == MOST_LINKS


@pytest.mark.parametrize(
    ("terms", "links", "file", "touched"),
    [
        (SuiteTerms(paths=["evals/**"], own=["linkdir/srv.py"]), {"linkdir": "lib"}, "lib/srv.py", True),
        (SuiteTerms(paths=["evals/**"], own=["linkdir/srv.py"]), {"linkdir": "lib"}, "docs/a.md", False),
        (SuiteTerms(paths=["evals/**"], own=["link.py"]), {"link.py": "lib/srv.py"}, "lib/srv.py", True),
        (SuiteTerms(paths=["linkdir/**/*.py"]), {"linkdir": "lib"}, "lib/srv.py", True),
        (SuiteTerms(paths=["other/**/*.py"]), {"linkdir": "lib"}, "lib/srv.py", False),
        (SuiteTerms(own=["prompts/system.md"]), {"prompts/system.md": "../README.md"}, "README.md", True),
        (SuiteTerms(own=["linkdir/srv.py"]), {"linkdir": "/srv/lib"}, "README.md", True),
        (SuiteTerms(own=["lib/srv.py"]), {"linkdir": "/srv/lib"}, "README.md", False),
    ],
)
def test_who_names_a_link__depends_on_what_it_leads_to(
    terms: SuiteTerms, links: dict[str, str], file: str, touched: bool
) -> None:
    change = ChangeAtHand(files=[file], suites={"shell": terms}, links=links)
    assert list(change.touching(terms))[:1] == ([file] if touched else [])


@pytest.mark.parametrize(
    ("terms", "touched"),
    [
        (SuiteTerms(paths=["vend/sub/**/*.py"]), True),
        (SuiteTerms(paths=["vend/sub/deep/x.py"]), True),
        (SuiteTerms(paths=["**/*.py"]), True),
        (SuiteTerms(paths=["vend/**"]), True),
        (SuiteTerms(paths=["vend/other/*.py"]), False),
        (SuiteTerms(paths=["src/**"]), False),
        (SuiteTerms(paths=["src/**"], own=["vend/sub/deep/x.py"]), True),
        (SuiteTerms(), True),
        (SuiteTerms(paths=["!vend/**"]), False),
        (SuiteTerms(paths=["!vend/sub"]), False),
        (SuiteTerms(paths=["!vend/*"]), True),
        (SuiteTerms(paths=["!vend/sub/*.md"]), True),
    ],
)
def test_a_submodule__counts_for_all_that_may_be_below_it(terms: SuiteTerms, touched: bool) -> None:
    assert terms.matters("vend/sub", opaque=True) is touched
