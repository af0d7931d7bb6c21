"""The committed baseline, kept by CI: from a report to a commit or a pull request, through GitHub's API alone."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace

from evalward.commands.keeping import kept_baseline
from evalward.commands.pipeline import Decide, decide_report, kinds_of
from evalward.decide.baseline import BaselineUpdate as Made
from evalward.decide.baseline import RunName, doubted, dump_baseline, read_baseline, with_acceptance
from evalward.decide.baseline import update_baseline as update_reports
from evalward.decide.baseline_diff import diff_baselines
from evalward.decide.edits import baseline_edits
from evalward.decide.pooling import NamedReport
from evalward.git import GitTree, repository_path
from evalward.github.commits import MakeText, baseline_message, commit_file
from evalward.github.errors import GitHubError
from evalward.github.pulls import Proposal, propose
from evalward.github.repository import RepositoryWriter
from evalward.github.settings import ActionInputs, BaselineMode, BaselineTo
from evalward.records.baseline import Acceptance, Baseline
from evalward.records.policy import Policy
from evalward.records.report import Report
from evalward.records.result import Status
from evalward.records.verdict import Outcome, Verdict
from evalward.render.escape import md_cell, md_code, md_prose, one_line
from evalward.render.numbers import plural
from evalward.render.sentences import headline

UpdateMode = BaselineMode

_BLOCKS = {Outcome.FAIL, Outcome.ERROR}
_MOST_ROWS = 30
_MOST_NOTES = 10
_LONGEST_NOTE = 300  # characters

OLDER = "The baseline is newer than this report, so it stays"
DOUBTED = (
    "**In doubt:** it looks worse, and chance can't be excluded. Merging this makes it what later changes are compared "
    "with; more trials (`trials: 5`) settle the doubt."
)


class BlockedError(Exception):
    """The report fails the gate, so it doesn't become what later reports are compared with."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        super().__init__(
            f"The baseline is not updated: {headline(verdict).rstrip('.')}. Fix that, or have a maintainer accept it "
            "in a pull request (`baseline-to: pull-request`, or `/evalward accept`)."
        )


def accepted_text(
    old_text: str | None, report: Report, base: Baseline | None, acceptance: Acceptance, policy: Policy
) -> str:
    """The baseline file's new text once a report is accepted; the old one when there is no news.

    What is kept of earlier trials is the base's: on the branch somebody could have changed them. Of its file only stays
    on record what was accepted earlier. Raises `InputError` for a report that can't be a baseline.
    """
    earlier = read_baseline(old_text, "the branch's baseline") if old_text is not None else None
    update = kept_baseline(NamedReport(report, "the report"), base, policy).update
    if update.report is None or update.baseline is base:
        return old_text or ""
    made = update.baseline
    if earlier is not None:
        provenance = made.provenance.model_copy(update={"accepted": earlier.provenance.accepted})
        made = made.model_copy(update={"provenance": provenance})
    return dump_baseline(with_acceptance(made, acceptance))


def _read(old_text: str | None) -> Baseline | None:
    return read_baseline(old_text, "the committed baseline") if old_text is not None else None


def _newer(previous: Baseline | None, report: Report) -> dict[RunName, str]:
    """All runs, where the baseline was measured later than the report: nothing older takes their place."""
    if not superseded(previous, report):
        return {}
    return {(run.suite, run.target): "the baseline was measured later" for run in report.runs}


def _made(
    previous: Baseline | None, report: Report, mode: UpdateMode, policy: Policy, spare: Mapping[RunName, str]
) -> Made:
    """What becomes of the baseline. Whoever replaces does nothing at all with a report that is older."""
    if mode == "replace" and previous is not None and spare and superseded(previous, report):
        return Made(previous, None, [OLDER])
    measured = [NamedReport(report, "the report")]
    return update_reports(measured, previous, kinds_of(report), pool=mode == "pool", policy=policy, spare=spare)


def acceptances(baseline: Baseline) -> list[str]:
    """What was accepted up to this baseline, the oldest first, each in a sentence."""
    return [str(acceptance) for acceptance in baseline.provenance.accepted]


def superseded(old: Baseline | None, report: Report) -> bool:
    """True when the baseline was measured later than the report: an older run doesn't undo a newer one."""
    return old is not None and old.provenance.created_at > report.created_at


@dataclass(frozen=True, slots=True)
class UpdateRequest:
    """What is to become of a report: the baseline at `path` (from the repository's top) of `branch`.

    `policy` decides what may be pushed, and `judge` by it; `pull_branch` is the branch of the pull request.
    """

    report: Report
    policy: Policy
    branch: str
    path: str
    to: BaselineTo = "push"
    pull_branch: str = "evalward/baseline"
    mode: UpdateMode = "pool"
    dry_run: bool = False
    run_url: str = ""
    judge: Decide = decide_report


@dataclass(frozen=True, slots=True)
class UpdateMessage:
    """What became of it: `line` for the log, `markdown` for the summary; `url` of the commit or pull request."""

    line: str
    markdown: str
    url: str = ""


def update_baseline(repository: RepositoryWriter, update: UpdateRequest) -> UpdateMessage:
    """Commit it, or propose it.

    Raises `BlockedError` for a push of a report that fails the gate, `InputError` for one that can't be a baseline,
    `GitHubError` for what GitHub refuses.
    """
    return _push(repository, update) if update.to == "push" else _propose(repository, update)


def _push(repository: RepositoryWriter, update: UpdateRequest) -> UpdateMessage:
    notes: list[str] = []
    outcome = _pushed(repository, update, notes)
    sentences = [md_prose(f"{one_line(note, _LONGEST_NOTE)}.") for note in notes[:_MOST_NOTES]]
    lines = [outcome.line, *(f"{one_line(note, _LONGEST_NOTE)}." for note in notes[:_MOST_NOTES])]
    return replace(outcome, line="\n".join(lines), markdown="\n\n".join([outcome.markdown, *sentences]))


def _pushed(repository: RepositoryWriter, update: UpdateRequest, notes: list[str]) -> UpdateMessage:
    message = baseline_message(update.path, "Update Evalward's baseline", _measured(update))
    done = commit_file(repository, update.branch, update.path, _maker(update, notes), message, dry_run=update.dry_run)
    if done.action == "unchanged":
        return UpdateMessage(f"{update.path} on {update.branch}: no change.", "The baseline stays as it is.")
    retries = f", after {plural(done.retries, 'conflict')} with other commits" if done.retries else ""
    table = change_markdown(done.old, done.new or "")
    if done.action == "would_commit":
        return UpdateMessage(f"Dry run: {update.path} would be committed to {update.branch}.", f"**Dry run.** {table}")
    line = f"{update.path}: committed to {update.branch} as {(done.sha or '')[:12]}{retries}."
    return UpdateMessage(line, f"{md_prose(line)}\n\n{table}", done.url)


def _propose(repository: RepositoryWriter, update: UpdateRequest) -> UpdateMessage:
    proposal = Proposal(
        base=update.branch,
        branch=update.pull_branch,
        path=update.path,
        make_text=_maker(update, []),
        message=baseline_message(update.path, "Update Evalward's baseline", _measured(update)),
        title=f"Update Evalward's baseline of {update.branch}",
        body=lambda old, new: _body(update, old, new),
    )
    done = propose(repository, proposal, dry_run=update.dry_run)
    number = f"#{done.number}" if done.number else ""
    if done.action == "unchanged":
        return UpdateMessage(f"{update.path} on {update.branch}: no change.", "The baseline needs no update.")
    if done.action == "closed":
        return UpdateMessage(f"{number}: closed: the base no longer needs an update.", f"{number} closed.", done.url)
    table = "" if done.new is None else change_markdown(done.old, done.new)
    if done.action.startswith("would_"):
        verb = done.action.removeprefix("would_")
        line = f"Dry run: would {verb} {f'pull request {number}' if number else 'a pull request'}."
        return UpdateMessage(line, f"**{line}**\n\n{table}")
    return UpdateMessage(
        f"Pull request {number}: {done.action}.", f"Pull request {number}: {done.action}.\n\n{table}", done.url
    )


def _maker(update: UpdateRequest, notes: list[str]) -> MakeText:
    """From what the branch has at that moment: whoever was faster is built upon, and judged against.

    `notes` becomes what people should know. Nobody looks at a push: what is in doubt then replaces nothing. A pull
    request says its doubt, and who merges it decides.
    """

    def make(old_text: str | None) -> str | None:
        old = read_baseline(old_text, update.path) if old_text is not None else None
        verdict = None
        if update.to == "push":
            verdict = update.judge(update.report, old, update.policy).verdict
            if verdict.outcome in _BLOCKS:
                raise BlockedError(verdict)
        spare = {**_newer(old, update.report), **(doubted(verdict) if verdict else {})}
        done = _made(old, update.report, update.mode, update.policy, spare)
        notes[:] = done.notes
        return old_text if done.baseline is old else dump_baseline(done.baseline)

    return make


def _measured(update: UpdateRequest) -> str:
    commit = update.report.provenance.commit
    where = f"{commit[:12]}" if commit else "an unknown commit"
    return f"Measured at {where}." + (f" {update.run_url}" if update.run_url else "")


def _body(update: UpdateRequest, old: str | None, new: str) -> str:
    verdict = update.judge(update.report, read_baseline(old, update.path) if old else None, update.policy).verdict
    commit = md_code((update.report.provenance.commit or "unknown")[:12])
    lines = [
        f"What was measured at {commit} as the baseline of {md_code(update.branch)}. By the present one the verdict is "
        f"**{verdict.outcome}**: {md_prose(headline(verdict))}",
        *([DOUBTED] if doubted(verdict) else []),
        change_markdown(old, new),
        f"Kept current by Evalward: {update.run_url}" if update.run_url else "Kept current by Evalward.",
        "Every run rewrites this branch, unless somebody else has committed to it.",
    ]
    return "\n\n".join(lines) + "\n"


def change_markdown(old: str | None, new: str) -> str:
    """A table of what a new baseline changes: passed trials of each run and category."""
    was = read_baseline(old, "the old baseline") if old is not None else None
    is_now = read_baseline(new, "the new baseline")
    before, now = _shares(was) if was else {}, _shares(is_now)
    names = [name for name in dict.fromkeys([*before, *now]) if before.get(name) != now.get(name)]
    rows = [
        f"| {md_cell(name[0])} | {md_cell(name[1])} | {before.get(name, '–')} | {now.get(name, '–')} |"
        for name in names[:_MOST_ROWS]
    ]
    if not rows:
        if was is not None and all(run.change == "same" for run in diff_baselines(was, is_now).runs):
            return "Results are as before. It keeps other texts of prompts and cases, so that changes can be shown."
        edits = baseline_edits(was, is_now)
        sentences = "; ".join(md_prose(line) for line in edits[:_MOST_ROWS])
        return f"As many trials passed as before; cases or numbers in them differ. {sentences}".rstrip()
    more = (
        [f"\n{plural(len(names) - _MOST_ROWS, 'more row is', 'more rows are')} left out."]
        if len(names) > _MOST_ROWS
        else []
    )
    head = ["| Suite × target | Category | Passed before | Passed now |", "|---|---|---|---|"]
    return "\n".join([*head, *rows, *more])


def _shares(baseline: Baseline) -> dict[tuple[str, str], str]:
    """(run, category) → passed of all trials; the category `all` comes first."""
    counts: dict[tuple[str, str], list[int]] = {}
    for run in baseline.runs:
        for case in run.cases:
            for name in ("all", case.category):
                count = counts.setdefault((run.name, name), [0, 0])
                count[0] += sum(trial.status is Status.PASSED for trial in case.trials)
                count[1] += len(case.trials)
    return {name: f"{passed} of {trials}" for name, (passed, trials) in counts.items()}


def repository_baseline(settings: ActionInputs, tree: GitTree, from_config: str) -> str:
    """The baseline's path from the repository's top; `from_config` is the config's, which counts from its folder."""
    path = settings.baseline or posixpath.join(posixpath.dirname(settings.config), from_config)
    return repository_path(tree.prefix(), [settings.working_directory, path])


def needs_token(token: str) -> None:
    """Raises `GitHubError` when there is none: nothing can be written then."""
    if not token:
        raise GitHubError(None, "No token to write the baseline with.", "Pass `github-token`.")
