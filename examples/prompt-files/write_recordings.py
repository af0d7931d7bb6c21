"""Writes the hand-written recordings of this example: answers of an assistant, and what a judge says of them.

No model ever gave these answers: they are written here by hand, as models might have given them. That is why the
recordings are called hand-written.

The story: an assistant does well (`before`). Then somebody tells it to be more reassuring (`after`): it promises
refunds, and chats where one line was wanted.

    python examples/prompt-files/write_recordings.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from evalward import api

HERE = Path(__file__).parent
SUITE = "prompts"

BEFORE: Mapping[str, str] = {
    "release-note/dark-mode": "Added a dark mode for the settings page.",
    "release-note/crash": "Fixed a crash when a CSV file is empty.",
    "release-note/python-38": "Removed support for Python 3.8.",
    "support-reply/lost-note": "Sorry about that! Notes stay in the trash for 30 days: open it and choose Restore.",
    "support-reply/refund": "I'm sorry for the trouble. Within 14 days a plan is refunded: please write to billing.",
}
AFTER: Mapping[str, str] = {
    **BEFORE,
    "release-note/crash": "Great news! We have fixed a crash when a CSV file is empty.",
    "release-note/python-38": "Don't worry, nothing breaks for you: Python 3.8 is gone!",
    "support-reply/refund": "No problem at all, you will have your money back tomorrow, I promise.",
}
PROMISES, SAME = "promises nothing", "says the same"
JUDGED: Mapping[str, Mapping[str, str]] = {
    f"support-reply/lost-note/{PROMISES}": {"reason": "It says how it works.", "choice": "it promises nothing"},
    f"support-reply/lost-note/{SAME}": {"reason": "Trash, 30 days, Restore.", "choice": "5"},
    f"support-reply/refund/{PROMISES}": {"reason": "It names the rule.", "choice": "it promises nothing"},
    f"support-reply/refund/{SAME}": {"reason": "The receipt is missing.", "choice": "4"},
}
JUDGED_AFTER: Mapping[str, Mapping[str, str]] = {
    **JUDGED,
    f"support-reply/refund/{PROMISES}": {"reason": "Money by tomorrow.", "choice": "it promises"},
    f"support-reply/refund/{SAME}": {"reason": "No rule, no address.", "choice": "1"},
}


class HandWritten(api.OfflineTarget):
    """A target that answers what stands above. Nobody told its tokens, so they are unknown."""

    random = False
    subject: Mapping[str, str] = {}

    def __init__(self, version: str, answers: Mapping[str, str]) -> None:
        self.id = f"hand-written/{version}"
        self._answers = answers

    def open(self, case: api.Case, trial: int) -> api.Chat:
        return HandWrittenChat(self._answers[case.id])


class HandWrittenChat:
    """One answer."""

    recording: api.Trace | None = None

    def __init__(self, answer: str) -> None:
        self._answer = answer

    async def send(self, request: api.Request) -> api.Reply:
        return api.Reply(api.Message(role="assistant", content=[api.Text(text=self._answer)]), api.Turn(stop="end"))


def without_clock(trial: api.Trial) -> api.Trial:
    """Without durations: a recording that is written again shall be the same."""
    turns = [turn.model_copy(update={"wall_ms": 0, "working_ms": 0}) for turn in trial.trace.turns]
    trace = trial.trace.model_copy(update={"turns": turns, "duration_ms": 0, "working_ms": 0})
    result = trial.result.model_copy(update={"duration_ms": 0})
    return trial.model_copy(update={"result": result, "trace": trace})


def write(name: str, lines: list[str]) -> None:
    path = HERE / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    print(f"{path.relative_to(HERE)}: {len(lines)} lines")


def main() -> None:
    stories = (("before", "evalward.yml", BEFORE, JUDGED), ("after", "pull-request.yml", AFTER, JUDGED_AFTER))
    for version, config, answers, judged in stories:
        said = [json.dumps({"id": name, "answers": [given]}) for name, given in judged.items()]
        write(f"judge-hand-written-{version}.jsonl", said)
        trials = api.record(api.load_config(HERE / config), SUITE, HandWritten(version, answers))
        write(
            f"recordings/hand-written-{version}.jsonl",
            [without_clock(each).model_dump_json(by_alias=True) for each in trials],
        )


if __name__ == "__main__":
    main()
