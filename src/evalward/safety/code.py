"""Judges a line of program code in a script language by what it calls.

This is reading, not parsing: the languages differ too much. It looks for calls that start commands, delete or
write files, open connections or hide other code, and judges their literal arguments like those of a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.harm import destroy, overwrite
from evalward.safety.model import CRITICAL, HIGH, MODERATE
from evalward.safety.sensitive import names_secret
from evalward.safety.words import Word, literal, pattern

_STRING = re.compile(
    r"'''(.*?)'''|\"\"\"(.*?)\"\"\""
    r"|'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"|q[qw]?\{([^}]*)\}|\[\[(.*?)\]\]",
    re.DOTALL,
)
_REGEX = re.compile(
    r"\b(?:s|tr|y)/(?:\\.|[^/\n])*/(?:\\.|[^/\n])*/(?![a-z]*e)|(?:=~|\bif\b|\bunless\b|[(,]|\A)\s*m?/(?:\\.|[^/\n])*/"
)
"""``s/old/new/`` unless it evaluates, and ``/pattern/`` where one is expected."""
_SHELL_CALL = re.compile(
    r"(?<![\w.$])(?:os\.)?(?:system|popen[234]?|exec[lv]p?e?|spawn[lv]p?e?|posix_spawnp?|startfile)\b"
    r"|\bsubprocess\.\w+|\bcommands\.get\w+|\bpty\.spawn\b|\basyncio\.create_subprocess_\w+"
    r"|(?<![\w.$])(?:shell_exec|passthru|proc_open|pcntl_exec|exec|spawn)\b(?!\s*\$)"
    r"|\b(?:execSync|spawnSync|execFile(?:Sync)?|fork(?=\(['\"]))\b|\.(?:exec|spawn|system"
    r"|popen)(?=\s*\(\s*['\"\[])"
    r"|\bos\.execute\b|\bio\.popen\b|\bIO\.popen\b|\bOpen3\.\w+|\bKernel\.\w+|\bdo shell script\b|\bdoShellScript\b"
    r"|\bDeno\.run\b"
    r"|\bDeno\.Command\b|\bBun\.(?:spawn(?:Sync)?|\$)|\brun\b(?=\s*\(\s*`)"
)
_BACKTICKS = re.compile(r"`([^`]+)`|%x[({\[]([^)}\]]+)|qx\s*[({/'|]([^)}/'|]+)")
_DELETE_TREE = re.compile(
    r"\b(?:rmtree|remove_tree|rm_rf|rm_r|remove_dir|remove_entry\w*|removedirs|emptyDir\w*|rimraf"
    r"|removeSync)\b"
)
_DELETE = re.compile(
    r"(?<![\w$-])(?:os\.)?(?:unlink\w*|remove|rmdir\w*|rmSync|rm|delete)\b(?=\s*[\(\"' ])|\.(?:unlink|rmdir"
    r"|rm|rmSync|rmdirSync|unlinkSync)\b"
)
_WRITE = re.compile(
    r"\b(?:writeFile\w*|appendFile\w*|file_put_contents|File\.(?:write|open)|IO\.write|createWriteStream)\b"
)
_OPEN_WRITE = re.compile(r"\bopen\s*\(\s*(['\"])(?P<path>.*?)\1\s*,\s*(['\"])(?P<mode>[wax+>][^'\"]*)\3")
_PATH_WRITE = re.compile(r"\bPath\(\s*(['\"])(?P<path>.*?)\1\s*\)\.(?:write_\w+|unlink|rename|touch)\b")
_SOURCES = re.compile(
    r"\b(?:glob|iglob|rglob|walk|listdir|scandir|iterdir|readdir\w*|Path|Dir|opendir|find|File::Find)\b"
)
_FETCH = re.compile(
    r"\b(?:urlopen|urlretrieve|requests\.\w+|httpx\.\w+|http\.client|Net::HTTP|\bget\s*\(?\s*['\"]http|LWP"
    r"|open-uri|URI\.open|fetch\s*\("
    r"|https?\.get|curl_exec|HTTP::Tiny|socket\.http)|file_get_contents\s*\(\s*['\"]http"
)
_RUN_CODE = re.compile(
    r"(?<![\w.])(?:exec|eval|compile|execfile|vm\.runIn\w+|new Function|loadstring|load|instance_eval"
    r"|assert)\s*[\(\s]"
)
_RUN_TEXT = re.compile(r"(?<![\w.])(?:exec|eval|compile|instance_eval|loadstring)\s*(?=\(\s*[rbuf]*['\"])")
_DECODE = re.compile(
    r"b64decode|a85decode|base64|fromhex|unhexlify|\bchr\b|marshal|zlib|codecs\.decode|rot13|atob"
    r"|Buffer\.from|pack\s*\(|decode_base64|fromCharCode|\[::-1\]|strrev|reverse"
)
_SOCKET = re.compile(
    r"\bsocket\b|fsockopen|TCPSocket|UDPSocket|net\.(?:connect|Socket|createConnection)|IO::Socket|/inet/tcp"
    r"|new Socket"
)
_HANDS_OVER = re.compile(
    r"dup2|subprocess|pty|execv?|/bin/(?:ba|z|da|k)?sh|cmd\.exe|system|popen|spawn|STDIN->fdopen|getline"
)
_LOOP = re.compile(r"\bwhile\b|\bfor\b|\bforever\b|\bloop\b|\buntil\b|goto")
_HIDDEN_NAME = re.compile(
    r"getattr\s*\(\s*(?:os|subprocess|__import__|builtins)|__builtins__|['\"]sys['\"]\s*\+|globals\(\)\["
)
_HOME = re.compile(r"expanduser|Path\.home\(\)|\bHOME\b|homedir\(\)|Dir\.home")
_DYNAMIC = re.compile(r"\$|(?![rbuf]{1,2}['\"]|q[qwx]?\W)[A-Za-z_][\w.]*\s*[\[(.,+]|[A-Za-z_]\w*\s*\Z")
"""Arguments that begin with a variable or a call."""
_LONGEST_ARGUMENTS = 400


def rate_code(call: ProgramCall, code: str) -> Iterator[Answer]:
    """Judge ``code`` as a part of ``call``."""
    bare = _masked(code)
    yield from _patterns(call, code)
    for match in _SHELL_CALL.finditer(bare):
        yield from _shell_call(call, match[0], _arguments(code, match.end()))
    for match in _RUN_TEXT.finditer(bare):
        for inner in _strings(_arguments(code, match.end()))[:2]:
            yield from rate_code(call, _unescaped(inner))
    for match in _BACKTICKS.finditer(code):
        yield NestedCommand(script=literal(match[1] or match[2] or match[3]))
    yield from _callbacks(call, code)
    yield from _deletions(call, code, bare)
    yield from _writes(call, code)
    if names_secret(call, _literal_words(code)):
        yield call.find("credential.read", HIGH, "reads a private key or stored passwords")


def _callbacks(call: ProgramCall, code: str) -> Iterator[Answer]:
    """Functions that are passed by name: ``array_map("unlink", …)``."""
    for match in re.finditer(r"(?:array_map|array_walk|call_user_func\w*|usort)\s*\(\s*['\"](\w+)['\"]", code):
        if match[1] in ("unlink", "rmdir"):
            yield from _unknown_deletion(call, code, recursive=False)
        elif match[1] in ("system", "exec", "shell_exec", "passthru", "eval", "assert"):
            yield call.find("opaque.script", HIGH, f"passes {match[1]} on by its name")


def _patterns(call: ProgramCall, code: str) -> Iterator[Answer]:
    if _SOCKET.search(code) and _HANDS_OVER.search(code):
        yield call.find("network.reverse_shell", CRITICAL, "connects a shell to a remote host")
    if _FETCH.search(code) and (_RUN_CODE.search(code) or _SHELL_CALL.search(code)):
        yield call.find("remote.execute", HIGH, "runs code that comes from the network")
    if (_RUN_CODE.search(code) and _DECODE.search(code)) or _HIDDEN_NAME.search(code):
        yield call.find("opaque.disguised", HIGH, "runs code that is hidden in data")
    if re.search(r"\bfork\b", code) and _LOOP.search(code):
        yield call.find("exhaustion.fork_bomb", HIGH, "starts processes without end")
    if (
        re.search(r"\bset(?:re|res)?[ug]id\s*\(?\s*0", code)
        or "$<=0" in code.replace(" ", "")
        or "$>=0" in code.replace(" ", "")
    ):
        yield call.find("privilege.setuid", HIGH, "takes the identity of root")
    if re.search(r"\bkill\s*\(?\s*(?:['\"]?\w+['\"]?\s*,\s*)?-1\b", code):
        yield call.find("process.kill_all", CRITICAL, "signals every process")
    if re.search(
        r"(?:os\.environ|process\.env|\bENV\b|\$_ENV|getenv\(\))(?!\s*[\[.(]\s*['\"\w])", code
    ) and _FETCH.search(code):
        yield call.find("credential.send", HIGH, "sends the environment away")


def _arguments(code: str, start: int) -> str:
    """Return the arguments that begin at ``start``: in parentheses, or up to the end of the statement."""
    rest = code[start : start + _LONGEST_ARGUMENTS]
    opening = re.match(r"\s*\(", rest)
    bare = _masked(rest)  # a semicolon or parenthesis in a string ends nothing
    if not opening:
        stop = re.search(r"[;\n}]", bare)
        return rest[: stop.start()] if stop else rest
    level = 0
    for at, char in enumerate(bare):
        level += {"(": 1, ")": -1}.get(char, 0)
        if char == ")" and level == 0:
            return rest[opening.end() : at]
    return rest[opening.end() :]


def _masked(code: str) -> str:
    """Return the code with its strings and regular expressions blanked out, every position kept."""
    without_strings = _STRING.sub(lambda found: found[0][0] + " " * (len(found[0]) - 2) + found[0][-1], code)
    return _REGEX.sub(lambda found: " " * len(found[0]), without_strings)


def _strings(text: str) -> list[str]:
    return [next(group for group in match.groups() if group is not None) for match in _STRING.finditer(text)]


def _shell_call(call: ProgramCall, name: str, arguments: str) -> Iterator[Answer]:
    strings = _strings(arguments)
    leading = arguments.strip()
    if "pty" in name:
        yield call.find("privilege.shell", HIGH, "opens an interactive shell")
    if not leading:
        return
    if not strings or _DYNAMIC.match(leading):
        if re.match(r"[\w$@({\[]", leading) and not leading[0].isdigit():
            level = MODERATE if leading.startswith(("open(", "compile(")) else HIGH
            yield call.find("opaque.script", level, f"starts a command that is not known before it runs: {name}")
        return
    is_list = leading.startswith("[") or (len(strings) > 1 and re.match(r"(['\"])[\w./-]+\1\s*,\s*[\['\"]", leading))
    if is_list:
        if re.search(r"(?:exec|spawn)l", name):
            del strings[1:2]  # the name that the program sees as its own
        yield NestedCommand(words=tuple(literal(_unescaped(text)) for text in strings))
    else:
        whole = len(strings) == 1 and re.match(r"[rbuf]*(['\"]).*\1\s*(?:,.*)?\Z", leading, re.DOTALL)
        script = _unescaped(strings[0])
        yield NestedCommand(script=literal(script if whole else " ".join(_unescaped(text) for text in strings)))


def _unescaped(text: str) -> str:
    return re.sub(r"\\(['\"\\$])", r"\1", text)


def _path(text: str) -> Word:
    return pattern(text.replace("process.env.HOME", "~"))


def _literal_words(code: str) -> list[Word]:
    return [_path(text) for text in _strings(code) if "/" in text or text.startswith(("~", "."))]


def _deletions(call: ProgramCall, code: str, bare: str) -> Iterator[Answer]:
    for match in (*_DELETE_TREE.finditer(bare), *_DELETE.finditer(bare)):
        arguments = _arguments(code, match.end())
        recursive = (
            bool(_DELETE_TREE.match(match[0])) or re.search(r"recursive\W+\s*(?:true|True|TRUE)", arguments) is not None
        )
        strings = [text for text in _strings(arguments) if text not in ("recursive", "force", "true")]
        if strings:
            yield from destroy(call, [_path(text) for text in strings[:4]], recursive)
        elif _HOME.search(arguments):
            yield from destroy(call, [_path("~")], recursive)
        elif arguments.strip():
            yield from _unknown_deletion(call, code, recursive)


def _unknown_deletion(call: ProgramCall, code: str, recursive: bool) -> Iterator[Answer]:
    """What is deleted is a variable: judge the places that the code lists, if it names any."""
    listed = [text for match in _SOURCES.finditer(code) for text in _strings(_arguments(code, match.end()))]
    words = [_path(text if "*" in text else text.rstrip("/") + "/*") for text in listed[:4] if text]
    if words:
        yield from destroy(call, words, recursive or "walk" in code)
    else:
        yield call.find("deletion.unknown", HIGH, "deletes something that is not known before it runs")


def _writes(call: ProgramCall, code: str) -> Iterator[Answer]:
    for match in (*_OPEN_WRITE.finditer(code), *_PATH_WRITE.finditer(code)):
        append = match.groupdict().get("mode", "w").startswith("a")
        yield from overwrite(call, [_path(match["path"])], append)
    for match in _WRITE.finditer(code):
        strings = _strings(_arguments(code, match.end()))
        yield from overwrite(call, [_path(text) for text in strings[:1]], append="append" in match[0])
    for match in re.finditer(r"\bprintf?\b[^;}|]*?(>>?|\|)\s*\"([^\"]+)\"", code):
        if match[1] == "|":
            yield NestedCommand(script=literal(match[2]))
        else:
            yield from overwrite(call, [_path(match[2])], append=match[1] == ">>")
    if re.search(r"print[^;}]*\|\s*\"?(?:sh|bash)\b", code):
        yield call.find("opaque.script", HIGH, "runs generated text as commands")
    for match in re.finditer(r"\"([^\"]+)\"\s*\|&?\s*getline", code):
        yield NestedCommand(script=literal(match[1]))


def unknown_code(call: ProgramCall, code: Word) -> Iterator[Answer]:
    """Say that code is not known before it runs."""
    local = bool(code.flows) and all(flow.local for flow in code.flows)
    yield call.find("opaque.script", MODERATE if local else HIGH, "runs code that is not known before it runs")
