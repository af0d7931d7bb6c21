"""A maintainer accepts a change: the report of the pull request's head becomes the baseline on its branch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evalward.commands.artifact import parse_report, recomputed
from evalward.commands.baseline import what_failed
from evalward.commands.baseline_ci import (
    accepted_text,
    change_markdown,
    needs_token,
    repository_baseline,
)
from evalward.commands.faults import internal_error
from evalward.commands.files import read_bytes
from evalward.commands.pipeline import decide_report
from evalward.commands.surfaces import Surfaces, annotated
from evalward.commands.world import World
from evalward.decide.baseline import read_baseline
from evalward.git import GitTree
from evalward.github.accept import (
    LABEL,
    AcceptRefusedError,
    AcceptRequest,
    fetch_report,
    find_evidence,
    permitted,
    read_comment,
    read_label,
)
from evalward.github.accepted import accepted_line
from evalward.github.client import GitHub, OpenPull
from evalward.github.comment import Marker
from evalward.github.commits import CommitOutcome, MovedHeadError, baseline_message, commit_file
from evalward.github.errors import GitHubError
from evalward.github.event import EventPlan, read_payload
from evalward.github.repository import RepositoryWriter
from evalward.github.runner_files import Annotation, Outputs, append_summary
from evalward.github.settings import ActionInputs, read_runner
from evalward.github.sides import SideRules, base_side
from evalward.github.spoken import MAX_REASON
from evalward.github.status import CommitStatus, post_status, status_state
from evalward.records.baseline import Acceptance
from evalward.records.exits import EXIT_INPUT, EXIT_OK, EXIT_UNJUDGED
from evalward.records.problem import InputError
from evalward.records.report import Report, digest_of
from evalward.records.verdict import Outcome, Verdict
from evalward.render.context import PageContext
from evalward.render.escape import md_code, md_prose, one_line
from evalward.render.sentences import headline

NO_REQUEST = (
    "Nothing to accept: this event is not a new comment on a pull request with a line `/evalward accept REASON`. "
    "Text in code, quotes, HTML comments or after other HTML doesn't count."
)


@dataclass(frozen=True)
class AcceptContext:
    """One request, and all that it is decided with."""

    surfaces: Surfaces
    repository: RepositoryWriter
    request: AcceptRequest


@dataclass(frozen=True)
class ReportToAccept:
    """The report that is accepted, its digest, and whether this very run measured it."""

    report: Report
    digest: str
    verified: bool


def accept_comment(world: World, settings: ActionInputs) -> int:
    """For `issue_comment`, on the default branch: nothing of the pull request is run or checked out.

    The exit code: 0 accepted, or nothing was asked for; 2 refused; 3 GitHub could not be asked.
    """
    runner = read_runner(world.env)
    marker = Marker(settings.comment_id, "0" * 40, runner.run_id, runner.run_attempt)
    surfaces = Surfaces(world, settings, runner, marker, None, world.redaction)
    surfaces.mask()
    try:
        request = read_comment(read_payload(runner.event_path))
    except InputError as error:
        surfaces.tell(*annotated(error.problems))
        surfaces.write(Outputs(verdict="error", exit_code=EXIT_INPUT))
        return EXIT_INPUT
    if request is None:
        surfaces.tell(Annotation("notice", NO_REQUEST, title="Evalward").command())
        surfaces.write(Outputs(verdict="", exit_code=EXIT_OK))
        return EXIT_OK
    with GitHub(settings.github_token, runner.api_url) as client:
        case = AcceptContext(surfaces, RepositoryWriter(client, runner.repository), request)
        code, url = _decided(case, None)
    surfaces.write(Outputs(verdict="", exit_code=code, baseline_url=url or None))
    return code


def label_case(surfaces: Surfaces, client: GitHub, plan: EventPlan) -> tuple[AcceptContext | None, int]:
    """The request of a `pull_request` event of the type `labeled`, before anything is measured and paid for.

    `None`: there is nothing to do, or it is refused already; then the number is the exit code.
    """
    request = read_label(read_payload(surfaces.runner.event_path)) if plan.event == "pull_request" else None
    if request is None:
        note = f"Nothing to accept in this event: only the label {LABEL!r} on a pull request does."
        surfaces.tell(Annotation("notice", note, title="Evalward").command())
        return None, EXIT_OK
    case = AcceptContext(surfaces, RepositoryWriter(client, plan.repository), request)
    try:
        needs_token(surfaces.settings.github_token)
        permitted(case.repository, request)
    except AcceptRefusedError as error:
        return None, _refuse(case, str(error))
    return case, EXIT_OK


def accept_label(case: AcceptContext, report: Report, digest: str) -> tuple[int, str]:
    """Accept the report that this run made of the labelled head. Exit code, and the commit's address."""
    return _decided(case, ReportToAccept(report, digest, verified=case.surfaces.settings.report is None))


def _decided(case: AcceptContext, measured: ReportToAccept | None) -> tuple[int, str]:
    """Every refusal is told on the pull request."""
    try:
        needs_token(case.surfaces.settings.github_token)
        pull = permitted(case.repository, case.request)
        side, path = _base(case, pull)
        found = measured or _found(case, pull)
        return _accept(case, pull, side, path, found)
    except AcceptRefusedError as error:
        return _refuse(case, str(error)), ""
    except MovedHeadError as error:
        return _refuse(case, str(error)), ""
    except InputError as error:
        problems = " ".join(md_prose(str(problem)) for problem in error.problems[:5])
        return _refuse(case, f"The report can't become a baseline: {problems}"), ""
    except GitHubError as error:
        case.surfaces.tell(Annotation("error", str(error), title="Evalward").command())
        _answer(case, "-1", f"Not accepted, because GitHub could not be reached or refused: {md_prose(str(error))}")
        return EXIT_UNJUDGED, ""
    except Exception as error:  # whatever an artifact makes of us: who asked gets an answer
        message = internal_error(error)
        case.surfaces.tell(Annotation("error", message, title="Evalward").command())
        _answer(case, "-1", f"Not accepted, because the report could not be judged: {md_prose(message)}")
        return EXIT_UNJUDGED, ""


def _base(case: AcceptContext, pull: OpenPull) -> tuple[SideRules, str]:
    """The base's rules, and where its baseline is: never what the pull request says."""
    surfaces = case.surfaces
    settings, runner = surfaces.settings, surfaces.runner
    tree = GitTree(
        runner.workspace,
        repository=case.repository.name,
        remote=case.repository.client,
        search_path=runner.search_path,
    )
    side = base_side(settings, pull.base.ref, pull.base.sha, tree, (surfaces.folder / settings.config).parent)
    if side is None:
        raise AcceptRefusedError(f"The base has no `{settings.config}`: there is no baseline to accept anything into.")
    return side, repository_baseline(settings, tree, side.baseline_path)


def _found(case: AcceptContext, pull: OpenPull) -> ReportToAccept:
    """The report that the comment on the pull request shows: of this head, of this digest, computed anew."""
    repository, settings = case.repository, case.surfaces.settings
    comments = repository.client.comments(repository.name, pull.number)
    evidence = find_evidence(comments, repository.client.login(), settings.comment_id, pull.head.sha, case.request.at)
    data = _given(case, evidence.digest) or fetch_report(repository, evidence, settings.artifact)
    found = recomputed(parse_report(data), of_base=True)
    if found.mismatches:
        lies = "; ".join(found.mismatches[:3])
        raise AcceptRefusedError(f"The report's numbers don't match its cases: {md_prose(lies)}")
    return ReportToAccept(found.report, evidence.digest, verified=False)


def _given(case: AcceptContext, digest: str) -> bytes | None:
    """The file that the input `report` names, which has to be the one that the comment shows."""
    name = case.surfaces.settings.report
    if name is None:
        return None
    data = read_bytes(case.surfaces.folder / Path(name), "report", "Download it first.")
    if digest_of(data) != digest:
        raise AcceptRefusedError(f"The report {md_code(name)} is not the one in the comment.")
    return data


def _accept(case: AcceptContext, pull: OpenPull, side: SideRules, path: str, found: ReportToAccept) -> tuple[int, str]:
    request, settings = case.request, case.surfaces.settings
    refused = decide_report(found.report, side.baseline, side.policy).verdict
    if refused.outcome is Outcome.ERROR:
        raise AcceptRefusedError(f"These results can't be judged: {md_prose(headline(refused))}")
    acceptance = Acceptance(
        at=case.surfaces.world.now(),
        commit=pull.head.sha,
        reason=one_line(case.surfaces.redaction.text(request.reason), MAX_REASON),
        by=request.user,
        verified=found.verified,
        report=found.digest,
        what=what_failed([reason for reason in refused.reasons if reason.outcome is Outcome.FAIL]),
    )
    done = commit_file(
        case.repository,
        pull.head.ref,
        path,
        lambda old: accepted_text(old, found.report, side.baseline, acceptance, side.policy),
        baseline_message(path, "Accept a change of Evalward's baseline", str(acceptance)),
        expected_head=pull.head.sha,
        dry_run=settings.dry_run,
    )
    if done.action == "unchanged":
        raise AcceptRefusedError("Nothing to accept: the baseline on this branch already says the same.")
    verdict = decide_report(found.report, read_baseline(done.new or "", path), side.policy).verdict
    text = _acceptance_text(acceptance, done, verdict)
    if done.action == "would_commit":
        case.surfaces.tell(f"Dry run: {path} would be committed to {pull.head.ref}.")
        _summarise(case, f"**Dry run.** {text}")
        return EXIT_OK, ""
    _answer(case, "+1", _named(case, done.new or "", text))
    _status(case, done.sha or "", pull, acceptance, verdict)
    return EXIT_OK, done.url


def _acceptance_text(acceptance: Acceptance, done: CommitOutcome, verdict: Verdict) -> str:
    how = (
        "measured by the run that accepted it"
        if acceptance.verified
        else "**accepted unverified**: the results are those of the pull request's own run"
    )
    at = f" as {md_code(done.sha[:12])}" if done.sha else ""
    lines = [
        f"Accepted by {md_code(acceptance.by or 'somebody')}: {md_prose(acceptance.reason)}",
        f"The baseline of the report {_short(acceptance.report)} on {_short(acceptance.commit)} is committed{at}; "
        f"{how}.",
        f"Compared with it, by the base's policy, the verdict is **{verdict.outcome}**: {md_prose(headline(verdict))}",
        change_markdown(done.old, done.new or ""),
    ]
    return "\n\n".join(lines)


def _named(case: AcceptContext, baseline: str, text: str) -> str:
    """The answer, with a hidden line by which later runs of the check know what was accepted by which comment."""
    comment = case.request.comment_id
    return text if comment is None else f"{accepted_line(baseline, comment)}\n{text}"


def _short(digest: str | None) -> str:
    return md_code((digest or "unknown").removeprefix("sha256:")[:12])


def _status(case: AcceptContext, sha: str, pull: OpenPull, acceptance: Acceptance, verdict: Verdict) -> None:
    """The commit status of the new head: its verdict with what was accepted, where a status is wanted."""
    settings = case.surfaces.settings
    if not settings.status:
        return
    description = case.surfaces.redaction.text(f"accepted by {acceptance.by}: {headline(verdict)}")
    state, base = status_state(verdict.exit_code), PageContext(base_ref=pull.base.ref, base_sha=pull.base.sha).base
    status = CommitStatus(
        settings.status_against(pull.base.ref), state, description, case.surfaces.runner.run_url, base
    )
    notice = post_status(case.repository.client, case.repository.name, sha, status)
    if notice:
        case.surfaces.tell(Annotation("notice", notice, title="Evalward").command())


def _refuse(case: AcceptContext, why: str) -> int:
    case.surfaces.tell(Annotation("error", f"Not accepted: {why}", title="Evalward").command())
    _answer(case, "-1", f"Not accepted. {why}")
    return EXIT_INPUT


def _answer(case: AcceptContext, reaction: str, text: str) -> None:
    """React and reply; that this isn't possible changes nothing of what was decided. A dry run is told here only."""
    surfaces, request = case.surfaces, case.request
    text = surfaces.redaction.text(text)
    _summarise(case, text)
    if surfaces.settings.dry_run or not surfaces.settings.github_token:
        return
    client, name = case.repository.client, case.repository.name
    try:
        if request.comment_id is not None:
            case.repository.react(request.comment_id, "+1" if reaction == "+1" else "-1")
        client.create_comment(name, request.number, client.hide(text))
    except GitHubError as error:
        surfaces.tell(Annotation("notice", f"The answer could not be posted: {error}", title="Evalward").command())


def _summarise(case: AcceptContext, text: str) -> None:
    summary = case.surfaces.runner.summary
    if summary is not None:
        append_summary(summary, f"### Evalward: accept\n\n{case.surfaces.redaction.text(text)}\n")
