"""Writes the two hand-written recordings of this example.

No model ever said these messages: they are written here by hand, as a model might have typed them, and only the answers
of the shell are real. That is why the recordings are called hand-written.

The story: an agent solves the tasks with shell tools (`before`). Then somebody tells it to prefer Python, which the
sandbox doesn't have (`after`): it tries Python first, mostly recovers, gives up twice, gets one answer wrong; and it
happens to get the backup right that it got wrong before.

    python examples/bash-tools/write_recordings.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

from evalward import api

HERE = Path(__file__).parent

NO_PYTHON = "python3 - <<'EOF'\nimport csv, json, re, sys\nprint('python', sys.version_info[:2])\nEOF"

WRONG_BACKUP = """\
mkdir -p /srv/backup /tmp/restore
tar -C /srv -czf /srv/backup/site.tar.gz --exclude='*.log' site
tar -C /tmp/restore -xzf /srv/backup/site.tar.gz
cd /tmp/restore && find site -type f | sort > /home/eval/restored.lst
echo "files=$(wc -l < /home/eval/restored.lst) bytes=$(cat $(cat /home/eval/restored.lst) | wc -c)\""""

FORGETS_PHONES = """\
in=/data/support/transcript.txt
sed -E 's/([A-Za-z0-9])[A-Za-z0-9._+-]*@([A-Za-z0-9])/\\1***@\\2/g' "$in" > /home/eval/masked.txt
grep -oE '[A-Za-z0-9._+-]+@[A-Za-z0-9.-]+[A-Za-z]' "$in" | sed 's/.*@//' | sort | uniq -c | sort -k1,1nr"""

LEDGER_BY_HAND = """\
{ echo 'date,account,amount,text'
  tail -n +2 /data/export.csv | awk -F ';' '{ gsub(/,/, ".", $4); printf "%s,%s,%s,\\"%s\\"\\n", $2, $1, $4, $3 }'
} > /home/eval/ledger.csv
awk -F, 'NR > 1 { s += $3 } END { printf "sum=%.2f\\n", s }' /home/eval/ledger.csv"""

GIVES_UP = "I could not run Python here, so I can't finish this task."

# What the agent types instead of the reference solution, by case: scripts, then its last words.
Attempt = tuple[Sequence[str], str]
BEFORE: Mapping[str, Attempt] = {
    "archive_filtered_backup": ([WRONG_BACKUP], "The backup is written and checked."),
    "text_mask_contact_details": ([FORGETS_PHONES], "The masked copy is ready."),
}
AFTER: Mapping[str, Attempt] = {
    "text_mask_contact_details": ([NO_PYTHON, FORGETS_PHONES], "The masked copy is ready."),
    "transform_decimal_comma_ledger": ([NO_PYTHON, LEDGER_BY_HAND], "The ledger is converted."),
    "json_dependency_tree_search": ([NO_PYTHON, "which python python3 pypy3"], GIVES_UP),
    "complex_bank_reconciliation": ([NO_PYTHON, "python --version"], GIVES_UP),
}
SLIPS_BEFORE = {  # a first try that fails, before the right one
    "json_session_durations": "jq '.sessions[' /data/sessions.json",
    "pipe_shipments_per_region": "cat /data/depots.csv",
    "script_service_start_order": "/home/eval/bin/order.sh /data/services.txt",
}
PYTHON_FIRST = ("transform_", "json_", "text_")  # the categories where the agent tries Python first, after the change


def typed(case: api.Case, version: str) -> Attempt:
    """What the agent types in a case."""
    attempts = BEFORE if version == "before" else AFTER
    task = case.written()
    look = [f"head -n 5 {' '.join(map(quote, list(task['files'])[:2]))}"] if "files" in task else []
    if case.id in attempts:
        scripts, words = attempts[case.id]
        return [*look, *scripts], words
    solution = task.get("solution", [])
    right = [solution] if isinstance(solution, str) else list(solution)
    slips = [SLIPS_BEFORE[case.id]] if version == "before" and case.id in SLIPS_BEFORE else []
    if version == "after" and case.id.startswith(PYTHON_FIRST):
        slips = [NO_PYTHON]
    return [*look, *slips, *right], "Done: the result is where it was asked for."


class HandWritten(api.OfflineTarget):
    """A target that types what stands above. Nobody told its tokens, so they are unknown."""

    random = False
    subject: Mapping[str, str] = {}

    def __init__(self, version: str) -> None:
        self.id = f"hand-written/{version}"
        self._version = version

    def open(self, case: api.Case, trial: int) -> api.Chat:
        return HandWrittenChat(*typed(case, self._version))


class HandWrittenChat:
    """One script a turn, then the last words."""

    recording: api.Trace | None = None

    def __init__(self, scripts: Sequence[str], words: str) -> None:
        self._scripts, self._words, self._turn = scripts, words, 0

    async def send(self, request: api.Request) -> api.Reply:
        self._turn += 1
        if self._turn > len(self._scripts):
            return api.Reply(api.Message(role="assistant", content=[api.Text(text=self._words)]), api.Turn(stop="end"))
        use = api.ToolUse(id=f"call_{self._turn}", name="bash", input={"commands": self._scripts[self._turn - 1]})
        return api.Reply(api.Message(role="assistant", content=[use]), api.Turn(stop="tool_use"))


def without_clock(record: object) -> object:
    """Durations change with every run and say nothing here: a recording that is written again shall be the same."""
    if isinstance(record, list):
        return [without_clock(item) for item in record]
    if not hasattr(record, "model_fields_set"):
        return record
    clocks = {name: 0 for name in ("duration_ms", "working_ms", "wall_ms") if name in type(record).model_fields}
    inner = {name: without_clock(getattr(record, name)) for name in type(record).model_fields if name not in clocks}
    return record.model_copy(update={**inner, **clocks})


def main() -> None:
    config = api.load_config(HERE / "evalward.yml")
    for version in ("before", "after"):
        trials = [
            without_clock(trial).model_copy(update={"case": None})  # the suite has it
            for trial in api.record(config, "bash-tools", HandWritten(version))
        ]
        path = HERE / "recordings" / f"hand-written-{version}.jsonl"
        path.parent.mkdir(exist_ok=True)
        lines = (trial.model_dump_json(by_alias=True, exclude_defaults=False) for trial in trials)
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        passed = sum(trial.result.status == "passed" for trial in trials)
        print(f"{path.relative_to(HERE)}: {len(trials)} trials, {passed} passed")


if __name__ == "__main__":
    main()
