"""The HTML page of many trials: how long it takes to make, and to open in Chromium where there is one."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

from benchmarks.measure import Row, spent
from evalward.commands.kept import KeptFolder
from evalward.commands.pipeline import decide_report, kinds_of
from evalward.records.base import json_text
from evalward.records.baseline import Baseline
from evalward.records.policy import Policy
from evalward.records.report import Report
from evalward.records.result import CheckResult, Result, Trial
from evalward.records.trace import Message, Text, ToolCall, ToolResult, ToolUse, Trace, Turn, Usage
from evalward.render.html.budget import PAGE_BYTES
from evalward.render.html.page import judgement_page
from evalward.render.kept import Sources
from evalward.render.outputs.base import ShownJudgement
from support.browser.chromium import chromium
from support.results import report, result, run
from support.written import make_baseline

TITLE = "The page of many trials, a tenth of them failed: made, and opened in Chromium (processor of its main thread)"
SUITE, TARGET = "bash-tools", "openai/gpt-5"
WORDS = ("the", "gate", "keeps", "what", "a", "model", "did", "with", "tools", "from", "getting", "worse", "while")
MAKE_SECONDS, OPEN_SECONDS = 2.0, 2.0


def words(numbers: random.Random, lines: int) -> str:
    """Output of a tool that can be packed about as well as logs can."""
    return "".join(f"{numbers.randrange(10**6):06d} {' '.join(numbers.choices(WORDS, k=8))}\n" for _ in range(lines))


def trace(numbers: random.Random) -> Trace:
    """Five turns, of which four call a tool whose output has 5 to 80 lines."""
    messages = [Message(role="user", content=[Text(text=f"Solve this. {words(numbers, 3)}")])]
    calls = []
    for number in range(4):
        call = ToolCall(
            commands=f"grep -c {number} /data/log.txt | sort | head -n 5",
            stdout=words(numbers, numbers.randrange(5, 80)),
            exit_code=0,
            duration_ms=numbers.randrange(1, 500),
        )
        use = ToolUse(id=f"call_{number}", name="bash", input={"commands": call.commands})
        answer = ToolResult(tool_use_id=use.id, content=call.stdout)
        calls.append(call)
        messages += [
            Message(role="assistant", content=[Text(text=words(numbers, 1)), use]),
            Message(role="tool_result", content=[answer]),
        ]
    messages.append(Message(role="assistant", content=[Text(text="Done.")]))
    usage = Usage(input_tokens=1200, output_tokens=80, cost_usd=0.0021)
    turns = [Turn(usage=usage, stop="tool_use", model="gpt-5", wall_ms=900) for _ in range(5)]
    return Trace(messages=messages, tool_calls=calls, turns=turns, natural_stop=True)


def measured(number: int, case: str) -> Result:
    """One trial in ten fails."""
    failed = number % 10 == 0
    checks = [
        CheckResult(check="exit_code:0", passed=True, detail="expected 0, got 0"),
        CheckResult(check=f"stdout_contains:{case}", passed=not failed, detail="found" if not failed else "not found"),
    ]
    return result(
        case,
        "failed" if failed else "passed",
        category=f"category {number % 9}",
        checks=checks,
        cost=0.0105,
        tokens=(6000, 400),
        trace=f"trials/{case}.1.json",
        most=2.0,
    )


def write_folder(folder: Path, trials: int) -> tuple[Report, Baseline]:
    """The trials' files, their report, and a baseline in which every trial passed."""
    (folder / "trials").mkdir(parents=True)
    numbers = random.Random(7)  # the same in every round
    results = [measured(number, f"case-{number:05d}") for number in range(trials)]
    for each in results:
        one = Trial(suite=SUITE, kind="bash", target=TARGET, subject="sha256:0", result=each, trace=trace(numbers))
        (folder / str(each.trace)).write_text(json_text(one), "utf-8")
    before = report(run([result(each.id, category=each.category) for each in results], target=TARGET, random=True))
    return report(run(results, target=TARGET, random=True)), make_baseline(before, "x", None, kinds_of(before))


def pages() -> list[Row]:
    """Pages of 1,000 and of 10,000 trials."""
    return [row for trials in (1_000, 10_000) for row in _page(trials)]


def _page(trials: int) -> list[Row]:
    with tempfile.TemporaryDirectory(prefix="evalward-bench-") as name:
        folder = Path(name)
        found, baseline = write_folder(folder, trials)
        kinds = kinds_of(found)
        judgement = decide_report(found, baseline, Policy())
        shown = ShownJudgement(judgement, sources=Sources(found, baseline, KeptFolder(folder), kinds=kinds))
        texts: list[str] = []
        made = spent(lambda: texts.append(judgement_page(shown)))
        path = folder / "report.html"
        path.write_text(texts[0], "utf-8")
        opened = main_thread(path)
    size = len(texts[0].encode())
    aim = "≤ 1" if trials == 1_000 else "–"
    return [
        Row(f"{trials:,} trials: made", f"{made.cpu:.2f} s", f"{MAKE_SECONDS:.0f} s", made.cpu / MAKE_SECONDS, aim),
        Row(f"{trials:,} trials: opened", f"{opened:.2f} s", f"{OPEN_SECONDS:.0f} s", opened / OPEN_SECONDS, aim),
        Row(f"{trials:,} trials: size", f"{size / 1e6:.1f} MB", f"{PAGE_BYTES / 1e6:.0f} MB", size / PAGE_BYTES, "≤ 1"),
    ]


def main_thread(path: Path) -> float:
    """Seconds of its main thread's processor that Chromium takes to open a page, scripts and first layout included."""
    with chromium() as browser:
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        page = context.new_page()
        session = context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(path.as_uri(), wait_until="load")
        metrics = session.send("Performance.getMetrics")["metrics"]
        return float(next(each["value"] for each in metrics if each["name"] == "TaskDuration"))
