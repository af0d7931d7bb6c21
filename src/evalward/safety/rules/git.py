"""Version control."""

from __future__ import annotations

from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.harm import overwrite
from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.words import Word, joined, names

_GLOBAL = "C: c/config-env: git-dir: work-tree: namespace: exec-path: super-prefix: p/paginate no-pager bare"
_MAIN = names("main master trunk production prod release develop")
_LOSES = "throws away work that is not committed"
_REWRITES = "rewrites or deletes what others have"
_COMMAND_SETTINGS = (
    "core.sshcommand",
    "core.pager",
    "core.editor",
    "core.fsmonitor",
    "diff.external",
    "core.hookspath",
)


@rule("git")
def git(call: ProgramCall) -> Iterator[Answer]:
    """Judge a git command by its subcommand."""
    options = call.leading(_GLOBAL)
    for setting in options.all_values("c"):
        yield from _setting(call, setting)
    if not options.operands:
        return
    inner = call.with_args(options.operands[1:])
    reader = _SUBCOMMANDS.get(options.operands[0].text)
    if reader:
        yield from reader(inner)


def _setting(call: ProgramCall, setting: Word) -> Iterator[Answer]:
    name, equals, value = setting.text.partition("=")
    if not equals:
        return
    if value.startswith("!"):
        yield NestedCommand(script=setting.after(len(name) + 2))
    elif name.lower() in _COMMAND_SETTINGS:
        yield NestedCommand(script=setting.after(len(name) + 1))


def _push(call: ProgramCall) -> Iterator[Answer]:
    options = call.options(
        "f/force d/delete o/push-option: repo: n/dry-run mirror prune force-with-lease force-if-includes u all tags"
    )
    if options.has("n"):
        return
    references = [word.text for word in options.operands[1:]]
    names_main = any(text.rpartition(":")[2].rpartition("/")[2] in _MAIN for text in references)
    forced = options.has("f", "mirror", "prune") or any(text.startswith("+") for text in references)
    deletes = options.has("d") or any(text.startswith(":") and len(text) > 1 for text in references)
    if forced or deletes:
        yield call.find("git.push", HIGH, _REWRITES)
    elif options.has("force-with-lease"):
        yield call.find("git.push", HIGH if names_main else MODERATE, _REWRITES)
    else:
        yield call.find("git.push", MODERATE, "publishes commits")


def _reset(call: ProgramCall) -> Iterator[Answer]:
    if call.options("hard merge keep soft mixed").has("hard"):
        yield call.find("git.reset", HIGH, _LOSES)


def _clean(call: ProgramCall) -> Iterator[Answer]:
    options = call.options("f/force d x X n/dry-run i/interactive e/exclude: q")
    if options.has("f") and not options.has("n", "i"):
        yield call.find("git.clean", HIGH, "deletes files that git does not know")


def _checkout(call: ProgramCall) -> Iterator[Answer]:
    options = call.options("b: B: f/force orphan: t: p/patch m ours theirs discard-changes C: c: detach")
    texts = [word.text for word in call.args]
    paths = [text for text in texts[texts.index("--") + 1 :]] if "--" in texts else []
    whole = any(
        text in (".", "./", "*", ":/", "..", ":/*") for text in [*paths, *(word.text for word in options.operands)]
    )
    if options.has("f", "discard-changes") or whole:
        yield call.find("git.discard", HIGH, _LOSES)
    elif paths:
        yield call.find("git.discard", MODERATE, "throws away changes to some files")


def _restore(call: ProgramCall) -> Iterator[Answer]:
    options = call.options("s/source: S/staged W/worktree p/patch q")
    if (options.has("S") and not options.has("W")) or options.has("p"):
        return
    whole = any(word.text in (".", "./", "*", ":/", "..") for word in options.operands)
    yield call.find("git.discard", HIGH if whole else MODERATE, _LOSES)


def _stash(call: ProgramCall) -> Iterator[Answer]:
    if call.args and call.args[0].text in ("drop", "clear"):
        yield call.find("git.stash", HIGH, "throws away stashed work")


def _branch(call: ProgramCall) -> Iterator[Answer]:
    options = call.options(
        "D d/delete f/force m/move M c/copy r/remotes a/all u/set-upstream-to: sort: format: merged contains:"
    )
    if options.has("D") or (options.has("d") and options.has("f")):
        yield call.find("git.branch", HIGH, "deletes branches even when they are not merged")
    elif options.has("d", "f", "M"):
        yield call.find("git.branch", MODERATE, "deletes or moves a branch")


def _remove(call: ProgramCall) -> Iterator[Answer]:
    options = call.options("r f/force cached n/dry-run q")
    if options.has("n"):
        return
    whole = any(word.text in (".", "./", "*", ":/") for word in options.operands)
    level = HIGH if whole and not options.has("cached") else MODERATE
    yield call.find("git.remove", level, "removes files from the repository")


def _config(call: ProgramCall) -> Iterator[Answer]:
    options = call.options(
        "f/file: global system local get get-all l/list e/edit unset unset-all add replace-all type:"
    )
    operands = options.operands
    if len(operands) < 2 or options.has("get", "get-all", "l"):
        return
    yield from _setting(call, joined(operands[:2], "="))
    helper = operands[0].text == "credential.helper" and operands[1].text.startswith("store")
    off = operands[0].text.lower() in ("http.sslverify",) and operands[1].text.lower() in ("false", "0")
    yield call.find(
        "git.config",
        HIGH if off else MODERATE,
        "stores passwords in plain text" if helper else "changes settings",
    )


def _reflog(call: ProgramCall) -> Iterator[Answer]:
    if call.args and call.args[0].text in ("expire", "delete") and not call.options("n").has("n", "dry-run"):
        yield call.find("git.history", HIGH, "deletes the record from which lost commits can be found")


def _gc(call: ProgramCall) -> Iterator[Answer]:
    options = call.options("prune: aggressive auto n expire:")
    value = options.value("prune", "expire")
    if value is not None and value.text in ("now", "all"):
        yield call.find("git.history", HIGH, "deletes commits that nothing refers to")


def _rewrite(call: ProgramCall) -> Iterator[Answer]:
    yield call.find("git.history", HIGH, "rewrites the whole history")
    for value in call.options(
        "tree-filter: index-filter: msg-filter: env-filter: commit-filter: parent-filter:"
    ).all_values("tree-filter", "index-filter", "msg-filter", "env-filter", "commit-filter"):
        yield NestedCommand(script=value)


def _update_ref(call: ProgramCall) -> Iterator[Answer]:
    yield call.find("git.history", HIGH if call.options("d").has("d") else MODERATE, "moves or deletes a reference")


def _worktree(call: ProgramCall) -> Iterator[Answer]:
    if call.args and call.args[0].text == "remove":
        forced = call.options("f/force").has("f")
        yield call.find("git.worktree", HIGH if forced else MODERATE, "deletes a working tree")


def _tag(call: ProgramCall) -> Iterator[Answer]:
    if call.options("d/delete f/force m: a n l").has("d", "f"):
        yield call.find("git.tag", MODERATE, "deletes or moves a tag")


def _foreach(call: ProgramCall) -> Iterator[Answer]:
    operands = call.leading("").operands
    if operands and operands[0].text == "foreach":
        rest = call.with_args(operands[1:]).leading("recursive").operands
        yield from (NestedCommand(script=joined(rest)) for _ in rest[:1])
    elif operands and operands[0].text == "deinit":
        yield call.find("git.submodule", MODERATE, "empties a submodule")


def _bisect(call: ProgramCall) -> Iterator[Answer]:
    if len(call.args) > 1 and call.args[0].text == "run":
        yield NestedCommand(words=call.args[1:])


def _rebase(call: ProgramCall) -> Iterator[Answer]:
    options = call.options("x/exec: i/interactive onto: s: X: root")
    yield from (NestedCommand(script=value) for value in options.all_values("x"))
    yield call.find("git.rebase", MODERATE, "rewrites commits")


def _credential(call: ProgramCall) -> Iterator[Answer]:
    if call.args and call.args[0].text == "fill":
        yield call.find("credential.read", HIGH, "shows a stored password")


def _archive(call: ProgramCall) -> Iterator[Answer]:
    yield from overwrite(call, call.options("o/output: format: prefix:").all_values("o"))


def _commit(call: ProgramCall) -> Iterator[Answer]:
    if call.options("m/message: F: C: c: amend").has("amend"):
        yield call.find("git.amend", MODERATE, "rewrites the last commit")


_SUBCOMMANDS = {
    "push": _push,
    "reset": _reset,
    "clean": _clean,
    "checkout": _checkout,
    "switch": _checkout,
    "restore": _restore,
    "stash": _stash,
    "branch": _branch,
    "rm": _remove,
    "config": _config,
    "reflog": _reflog,
    "gc": _gc,
    "prune": _gc,
    "filter-branch": _rewrite,
    "filter-repo": _rewrite,
    "update-ref": _update_ref,
    "symbolic-ref": _update_ref,
    "replace": _update_ref,
    "worktree": _worktree,
    "tag": _tag,
    "submodule": _foreach,
    "bisect": _bisect,
    "rebase": _rebase,
    "credential": _credential,
    "archive": _archive,
    "commit": _commit,
}

table("bfg bfg.jar git-filter-repo", "", [Subcommand("", HIGH, "git.history", "rewrites the whole history")])
table(
    "hg",
    "",
    [
        Subcommand("strip|rollback|histedit", HIGH, "git.history", _REWRITES),
        Subcommand("update|up|revert|purge", HIGH, "git.discard", _LOSES, needs="C clean a all"),
        Subcommand("purge", HIGH, "git.clean", _LOSES),
        Subcommand("push", HIGH, "git.push", _REWRITES, needs="f force"),
        Subcommand("*", SAFE, "", ""),
    ],
)
table(
    "svn",
    "",
    [
        Subcommand("revert", HIGH, "git.discard", _LOSES, needs="R recursive"),
        Subcommand("delete|rm|remove", MODERATE, "git.remove", "removes files"),
        Subcommand("cleanup", HIGH, "git.clean", _LOSES, needs="remove-unversioned"),
    ],
)


table(
    "p4",
    "p: u: c: d:",
    [
        Subcommand("obliterate", HIGH, "git.history", "deletes files with their history", needs="y"),
        Subcommand("revert|delete|clean", MODERATE, "git.discard", "throws changes away"),
    ],
)
