"""The parts, one function each: they measure and give rows."""

from __future__ import annotations

import io
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks import raw
from benchmarks.anchor import TITLE as ANCHOR
from benchmarks.anchor import anchor
from benchmarks.browser import TITLE as BROWSER
from benchmarks.browser import browser
from benchmarks.caching import CACHING, caching
from benchmarks.foreign import TITLE as FOREIGN
from benchmarks.foreign import foreign
from benchmarks.history import history
from benchmarks.judging import IMPORTED, imported_once, judged
from benchmarks.measure import EVALWARD, Row, Spent, child, middle, ms, ratio, spent, start, watched
from benchmarks.pages import TITLE as PAGES
from benchmarks.pages import pages
from benchmarks.reruns import TITLE as RERUNS
from benchmarks.reruns import reruns
from benchmarks.selecting import TITLE as SELECTING
from benchmarks.selecting import selecting
from benchmarks.simulation import TITLE, simulation
from benchmarks.speedup import aggregated
from benchmarks.statistics import measure_statistics
from benchmarks.suites import ENV, MODELS, TURNS, check_passed, run_here, server_settings, write_suite
from evalward.commands.compare import CompareOptions, compare_files
from evalward.commands.files import read_report
from evalward.commands.pipeline import dump_report, kinds_of
from evalward.commands.report import show_reports
from evalward.commands.world import World
from evalward.decide.baseline import dump_baseline
from support.model_server import Remote, spawned
from support.results import report, result, run
from support.written import make_baseline

EXAMPLE = Path(__file__).parents[1] / "examples" / "bash-tools"
ROUNDS = 3
WARM = 8  # trials
Words = Sequence[str | Path]


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="evalward-bench-") as name:
        yield Path(name)


def trial() -> list[Row]:
    """One more trial of two turns, against the same two requests by the SDK alone; both asked by this process.

    What 208 trials took beyond what 8 did: so no start of a process is in it. The keeper is this process; runner and
    sandbox are its children.
    """
    rows = []
    clocks: Mapping[str, Callable[[Spent], float]] = {
        "processor of the keeper": lambda each: each.cpu,
        "processor of keeper and runner, sandbox included": lambda each: each.cpu + each.below,
        "clock": lambda each: each.wall,
    }
    cases = 200
    with folder() as here, spawned(server_settings()) as server:
        for provider in MODELS:
            ours, sdk = _trials(here / provider, server, provider, cases)
            for name, of in clocks.items():
                took, held = of(middle(ours)) / cases, of(middle(sdk)) / cases
                rows.append(Row(f"{provider}: {name}", ms(took), ms(held), ratio(ours, sdk, of), "≤ 1.5"))
    return rows


def _trials(here: Path, server: Remote, provider: str, cases: int) -> tuple[list[Spent], list[Spent]]:
    small = write_suite(here / "small", server, provider, WARM)
    config = write_suite(here / "suite", server, provider, WARM + cases)
    run_here(small, "warm")
    raw.ask(server, provider, WARM)
    ours, sdk = [], []
    for number in range(5):
        few = spent(lambda: raw.ask(server, provider, WARM))
        sdk.append(spent(lambda: raw.ask(server, provider, WARM + cases)).beyond(few))
        few = spent(partial(run_here, small, f"out{number}"))
        ours.append(spent(partial(run_here, config, f"out{number}")).beyond(few))
    return ours, sdk


def startup() -> list[Row]:
    """Processes from beginning to end, against an interpreter that does nothing."""
    with folder() as here:
        measured = here / "report.json"
        child(EVALWARD, "run", "--config", EXAMPLE / "evalward.yml", "--output", here, cwd=here)
        baseline = EXAMPLE / ".evalward" / "baseline.json"
        policy = EXAMPLE / "evalward.yml"
        one = ["--suite", "bash-tools", "--target", "replay:*", "--case", "json_oncall_hours"]
        commands: Mapping[str, Words] = {
            "--help": ["--help"],
            "compare (the example)": ["compare", "--report", measured, "--baseline", baseline, "--policy", policy],
            "check (one case, replayed)": ["check", "--config", policy, *one, "--output", here / "one"],
        }
        nothing = middle([child(sys.executable, "-c", "pass", cwd=here) for _ in range(7)])
        took = {name: middle([child(EVALWARD, *words, cwd=here) for _ in range(7)]) for name, words in commands.items()}
    rows = [Row(name, ms(each.wall), ms(nothing.wall), each.wall / nothing.wall) for name, each in took.items()]
    return [*rows, *map(_first_answer, MODELS)]


def _first_answer(provider: str) -> Row:
    """A run of one case, against a process that only imports the SDK, all of it."""
    with folder() as here, spawned(server_settings()) as server:
        config = write_suite(here, server, provider, 1)
        ran = middle([child(EVALWARD, "run", "--config", config, cwd=here, env=ENV) for _ in range(7)])
        sdk = middle([child(sys.executable, "-c", f"import {provider}", cwd=here) for _ in range(7)])
    what = f"run (one case, {provider}/…)"
    return Row(what, ms(ran.wall), f"{ms(sdk.wall)} (the SDK)", ran.wall / sdk.wall)


def thousand() -> list[Row]:
    """1,000 trials in a process of their own, against 100, and against a process that only imports the SDK."""
    with folder() as here, spawned(server_settings()) as server:
        took = {}
        for cases in (100, 1000):
            config = write_suite(here / str(cases), server, "openai", cases)
            took[cases] = watched(EVALWARD, "run", "--config", config, cwd=config.parent, env=ENV)
            assert check_passed(config.parent / "evalward-out" / "report.json") == cases
        wait = "import openai, time; openai.AsyncOpenAI(api_key='x').chat.completions; time.sleep(0.1)"
        sdk = watched(sys.executable, "-c", wait, cwd=here)
    few, many = took[100], took[1000]
    peak = f"{many.peak_mb:.0f} MB"
    return [
        Row("time", f"{many.wall:.2f} s", f"{few.wall:.2f} s (100 trials)", many.wall / few.wall, "≤ 10"),
        Row("peak of memory", peak, f"{few.peak_mb:.0f} MB (100 trials)", many.peak_mb / few.peak_mb),
        Row("peak of memory", peak, f"{sdk.peak_mb:.0f} MB (the SDK)", many.peak_mb / sdk.peak_mb, "< 100 MB"),
    ]


def latency() -> list[Row]:
    """Fifty at once: 200 trials of two turns, against what the model's latency alone allows, and against the SDK."""
    rows = []
    cases, at_once = 200, 50
    for delay in (0.05, 0.5):
        with folder() as here, spawned(server_settings(delay)) as server:
            bound = cases * TURNS * delay / at_once
            run_here(write_suite(here / "warm", server, "openai", 4))
            raw.ask(server, "openai", at_once, at_once)
            sdk = spent(lambda: raw.ask(server, "openai", cases, at_once))
            config = write_suite(here / "suite", server, "openai", cases, at_once)
            ours = spent(partial(run_here, config))
            highest = server.log()["max_concurrent"]
        assert highest == at_once
        name = f"{delay * 1000:.0f} ms latency"
        rows += [
            Row(f"{name}: against the bound", f"{ours.wall:.2f} s", f"{bound:.2f} s", ours.wall / bound, "≤ 1.15"),
            Row(f"{name}: against the SDK", f"{ours.wall:.2f} s", f"{sdk.wall:.2f} s", ours.wall / sdk.wall),
        ]
    return rows


def resume() -> list[Row]:
    """Killed (SIGKILL) in the middle and resumed: trials that are missing in the report, and asked for again."""
    cases = 200
    with folder() as here, spawned(server_settings(0.05)) as server:
        config = write_suite(here, server, "openai", cases)
        command: Words = [EVALWARD, "run", "--config", config]
        process = start(*command, cwd=here, env=ENV)
        while len(_finished(here)) < cases / 2:
            time.sleep(0.01)
        process.kill()
        process.wait()
        finished = _finished(here)
        before = len(server.log()["requests"])
        child(*command, "--resume", cwd=here, env=ENV)
        again = Counter(request["asked"]["prompt"] for request in server.log()["requests"][before:])
        lost = cases - check_passed(here / "evalward-out" / "report.json")
        repeated = sum(any(name in asked for asked in again) for name in finished)
    return [
        Row("lost trials", str(lost), f"{len(finished)} finished", lost / len(finished), "0"),
        Row("repeated trials", str(repeated), f"{len(finished)} finished", repeated / len(finished), "0"),
    ]


def _finished(here: Path) -> set[str]:
    """The ids of the cases with a trial file."""
    return {path.name.split(".")[0] for path in (here / "evalward-out").glob("trials/*/*/word*.json")}


def replay() -> list[Row]:
    """The example, 37 tasks replayed and judged, against a process that only compares."""
    with folder() as here:
        command: Words = [EVALWARD, "check", "--config", EXAMPLE / "pull-request.yml", "--output", here / "out"]
        took = middle([child(*command, cwd=here, codes=(1,)) for _ in range(ROUNDS)])
        measured, baseline = here / "out" / "report.json", EXAMPLE / ".evalward" / "baseline.json"
        words: Words = [
            "compare",
            "--report",
            measured,
            "--baseline",
            baseline,
            "--policy",
            EXAMPLE / "pull-request.yml",
        ]
        compared = middle([child(EVALWARD, *words, cwd=here, codes=(0, 1)) for _ in range(ROUNDS)])
    return [Row("check of the example", f"{took.wall:.2f} s", f"{compared.wall:.2f} s", took.wall / compared.wall)]


def imported() -> list[Row]:
    """10,000 results that came from elsewhere: read, aggregated, compared and rendered; against reading them."""

    def many(broken: int) -> str:
        cases = [
            result(
                f"case{n // 10:04d}", "failed" if n % broken == 0 else "passed", trial=n % 10 + 1, category=f"c{n % 7}"
            )
            for n in range(10_000)
        ]
        return dump_report(report(run(cases, target="openai/gpt-5", random=True)))

    world = World(io.StringIO(), io.StringIO(), lambda: "2026-01-01T00:00:00Z")
    with folder() as here:
        now, before, baseline = here / "now.json", here / "before.json", here / "baseline.json"
        now.write_text(many(9), "utf-8")
        before.write_text(many(11), "utf-8")
        found = read_report(before)
        baseline.write_text(dump_baseline(make_baseline(found, "x", None, kinds_of(found))), "utf-8")
        options = CompareOptions(report=now, baseline=baseline, format="markdown")
        read = spent(lambda: json.loads(now.read_bytes()))
        works: Mapping[str, Callable[[], object]] = {
            "compare, as Markdown": lambda: compare_files(world, options),
            "report, for the terminal": lambda: show_reports(world, [now], "terminal", None, verbose=False),
            "report, as Markdown": lambda: show_reports(world, [now], "markdown", None, verbose=False),
        }
        took = {name: spent(work) for name, work in works.items()}
    return [
        Row(name, f"{each.wall:.2f} s", f"{read.wall:.2f} s", each.wall / read.wall, "< 5 s")
        for name, each in took.items()
    ]


PARTS: Mapping[str, tuple[str, Callable[[], list[Row]]]] = {
    "trial": ("One trial of two turns (n = 200), against the SDK alone", trial),
    "startup": ("A process, against an interpreter that does nothing", startup),
    "thousand": ("1,000 trials, against 100", thousand),
    "latency": ("Fifty trials at once (n = 200), against the latency bound", latency),
    "resume": ("Killed and resumed (n = 200)", resume),
    "replay": ("Replay of the example, against `compare` alone", replay),
    "history": ("A year of daily runs in the history, against the limits", history),
    "pages": (PAGES, pages),
    "imported": ("10,000 trials from elsewhere, against reading their JSON", imported),
    "judging": ("A random target's trials judged, against half as many", judged),
    "once": (f"{IMPORTED[1]:,} trials from elsewhere compared, as a comment, against {IMPORTED[0]:,}", imported_once),
    "statistics": ("The tests of the verdict for 1,000 cases, against 37", measure_statistics),
    "simulation": (TITLE, simulation),
    "anchor": (ANCHOR, anchor),
    "reruns": (RERUNS, reruns),
    "browser": (BROWSER, browser),
    "foreign": (FOREIGN, foreign),
    "caching": (CACHING, caching),
    "selecting": (SELECTING, selecting),
    "speedup": ("Speedups of 2,000 benchmarks × 50 tasks, against reading their JSON", aggregated),
}
