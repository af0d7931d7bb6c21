"""Reading and sending of credentials, and what arrives from the network."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, ProgramCall
from evalward.safety.harm import overwrite
from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.options import Options
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.scope import is_secret_name
from evalward.safety.sensitive import is_secret, names_secret, names_sensitive
from evalward.safety.targets import PlaceKind, locate
from evalward.safety.words import Flow, Word, literal, pattern

_READERS = (
    "cat tac less more head tail bat nl strings xxd od hexdump base64 base32 grep egrep rg awk sed cut "
    "sort view vi vim nano emacs jq tee paste rev fold column zcat source openssl gpg"
)
_SETTINGS = re.compile(
    r"\.env(?:\.(?:local|prod|production|staging))?|\.(?:npmrc|pypirc)|credentials\.json|secrets\.ya?ml"
)
_CLOUD_KEY = re.compile(r"\$\w*(?:SECRET_ACCESS_KEY|PRIVATE_KEY|SSH_KEY)")
_LEAK = "sends credentials or private data away"


@rule(_READERS)
def read_secret(call: ProgramCall) -> Iterator[Answer]:
    """Showing a private key or a password file is a leak already."""
    options = call.options("n: c: e: f: d: in: out: k: t: m: A: B: C: recipient:")
    if call.program == "openssl" and options.has("out", "pubout", "noout", "verify", "check"):
        return
    operands = (*options.operands, *options.all_values("in"))
    if call.stdin is not None and call.stdin.secret and call.stdin.local:
        operands = (*operands, pattern(call.stdin.source))
    if names_secret(call, operands):
        yield call.find("credential.read", HIGH, "shows a private key or stored passwords")
    elif any(_SETTINGS.fullmatch(target.name) for _, target in call.places(operands)):
        whole = call.program in ("cat", "less", "more", "bat", "strings", "base64", "xxd") and not call.piped
        yield call.find("credential.read", HIGH if whole else MODERATE, "shows settings that often hold passwords")


@rule("cp mv install scp rsync ln dd ditto")
def copy_secret(call: ProgramCall) -> Iterator[Answer]:
    """A private key belongs in its folder and nowhere else."""
    operands = call.options("t: m: i: P: e: o: p: F: S:").operands
    if len(operands) < 2 or not names_secret(call, operands[:-1]):
        return
    destination = locate(operands[-1], call.scope.folders[0])
    is_remote = re.match(r"[^/]+:", operands[-1].text)
    if is_remote or destination.place in (
        PlaceKind.TEMP,
        PlaceKind.LOCAL,
        PlaceKind.TOP,
        PlaceKind.SYSTEM,
        PlaceKind.UNKNOWN,
    ):
        yield call.find("credential.copy", HIGH, "copies a private key or stored passwords away")


@rule("echo printf")
def print_secret(call: ProgramCall) -> Iterator[Answer]:
    """Printing a credential to the terminal puts it into logs."""
    shown = [word for word in call.args if any(p.text.startswith("$") and is_secret_name(p.text) for p in word.pieces)]
    if shown and not call.piped:
        yield call.find("credential.print", HIGH, f"prints {shown[0].text}")


@rule("printenv")
def print_variable(call: ProgramCall) -> Iterator[Answer]:
    """The same for ``printenv NAME``."""
    if any(is_secret_name(word.text) for word in call.args) and not call.piped:
        yield call.find("credential.print", HIGH, "prints a credential")


_SHARED = (
    "d/data/data-raw/data-ascii: data-binary: data-urlencode: F/form: form-string: T/upload-file: H/header: "
    "u/user: A/user-agent: b/cookie: c/cookie-jar: e/referer: x/proxy: E/cert: K/config: w/write-out: "
    "m/max-time: o/output: json: url: retry: connect-timeout: unix-socket: cacert: key: s S L f k i I v q "
)
_CURL = _SHARED + "X/request: O/remote-name output-dir: J"
_OTHERS = _SHARED + (
    "X/request/method: O/output-document: P/directory-prefix: post-file: post-data: body-file: body-data:"
)


@rule("curl wget http https xh aria2c fetch")
def transfer(call: ProgramCall) -> Iterator[Answer]:
    """Judge uploads by what they send, downloads by where they write."""
    options = call.options(_CURL if call.program == "curl" else _OTHERS)
    if _sends_secret(call, options):
        yield call.find("credential.send", HIGH, _LEAK)
    yield from _addresses(call, [word.text for word in options.operands], options.value("X"))
    if any("docker" in word.text for word in options.all_values("unix-socket")):
        yield call.find("container.socket", HIGH, "talks to the container service itself")
    targets = [word for word in options.all_values("o", "O") if word.text not in ("-", "")]
    _remember_downloads(call, targets, options.operands, options.has("O"), options.value("P"))
    yield from overwrite(call, targets)
    if any(locate(word).path.startswith("/usr/local/bin") for word in targets):
        yield call.find("remote.install", HIGH, "puts a downloaded program where it is run")


def _sends_secret(call: ProgramCall, options: Options) -> bool:
    sent = _sent_files(options.all_values("d", "data-binary", "data-urlencode", "F", "json", "b"))
    sent += options.all_values("T", "post-file", "body-file")
    inline = (*options.operands, *(value for _, value in options.values))
    shown = any(flow.secret for word in inline for flow in word.flows) or _sends_personal(options)
    reads_input = any(word.text in ("-", ".") for word in sent)
    piped = reads_input and call.stdin is not None and call.stdin.private
    return shown or piped or names_sensitive(call, sent) or any(_CLOUD_KEY.search(word.text) for word in inline)


def _sends_personal(options: Options) -> bool:
    """An address that was copied is asked for; what was copied and is sent along, or written into one, leaves."""
    told = options.all_values(
        "d", "data-binary", "data-urlencode", "F", "form-string", "json", "H", "u", "b", "post-data"
    )
    addresses = [word for word in options.operands if word.pieces and word.pieces[0].flow is None]
    return any(flow.personal for word in (*told, *addresses) for flow in word.flows)


def _sent_files(values: list[Word]) -> list[Word]:
    """Return the files in ``@file``, ``name=@file`` and ``name=<file`` values."""
    files: list[Word] = []
    for value in values:
        match = re.match(r"(?:[^@<=]*=)?[@<]", value.text)
        if match:
            name = value.after(match.end())
            path = name.text.partition(";")[0]
            files.append(name if path == name.text else literal(path))
    return files


def _addresses(call: ProgramCall, urls: list[str], method: Word | None) -> Iterator[Answer]:
    verb = method.text.upper() if method is not None else ""
    for url in urls:
        if "169.254.169.254" in url or "metadata.google.internal" in url:
            yield call.find("credential.read", HIGH, "asks the cloud for the machine's credentials")
        if verb == "DELETE" or url == "DELETE":
            wide = re.search(r":(?:9200|5984|8983|8086|2379)/|/_all\b|\*", " ".join(urls))
            yield call.find("remote.delete", HIGH if wide else MODERATE, "deletes something on a server")
        elif "_delete_by_query" in url or "/_shutdown" in url or url.endswith("/actuator/shutdown"):
            yield call.find("remote.delete", HIGH, "deletes data or stops a server")


def _remember_downloads(
    call: ProgramCall, targets: list[Word], urls: tuple[Word, ...], by_name: bool, folder: Word | None
) -> None:
    """Remember downloaded files: running one later runs what came from the network."""
    flow = Flow(remote=True, source=call.text)
    for word in targets:
        call.scope.files[word.text] = flow
    if (by_name and call.program == "curl") or (call.program in ("wget", "aria2c") and not targets):
        for url in urls:
            name = url.text.partition("?")[0].rpartition("/")[2]
            call.scope.files[name if folder is None else f"{folder.text.rstrip('/')}/{name}"] = flow


@rule("nc ncat netcat socat telnet openssl mail mailx sendmail mutt ftp sftp")
def pipe_away(call: ProgramCall) -> Iterator[Answer]:
    """Input with credentials that goes to a connection."""
    attached = call.options("a: s: c:").all_values("a") if call.program in ("mail", "mailx", "mutt") else []
    if call.program == "openssl" and not any(word.text == "s_client" for word in call.args):
        return
    if (call.stdin is not None and call.stdin.private) or names_sensitive(call, attached):
        yield call.find("credential.send", HIGH, _LEAK)


@rule("ssh")
def ssh_input(call: ProgramCall) -> Iterator[Answer]:
    """Credentials piped to another machine."""
    if call.stdin is not None and call.stdin.secret:
        yield call.find("credential.send", HIGH, _LEAK)


@rule("dig host nslookup ping")
def name_lookup(call: ProgramCall) -> Iterator[Answer]:
    """Data hidden in a name that is looked up."""
    if any(flow.private for word in call.args for flow in word.flows):
        yield call.find("credential.send", HIGH, _LEAK)


@rule("screencapture scrot grim maim gnome-screenshot")
def screenshot(call: ProgramCall) -> Iterator[Answer]:
    """A picture of the screen shows whatever is open on it."""
    options = call.options("f/file: l: R: D: t: T: d: g: o: s: q:")
    for word in (*options.operands, *options.all_values("f")):
        call.scope.files[word.text] = Flow(personal=True, local=True)
    return iter(())


@rule("scp rsync rclone aws gsutil az gcloud s3cmd mc")
def upload(call: ProgramCall) -> Iterator[Answer]:
    """Private files that are copied to another machine or to the cloud."""
    operands = call.options("i: P: e: o: F: S: region: profile: exclude: include:").operands
    remote = [word for word in operands if re.match(r"(?:[\w.-]+@)?[\w.-]+:|s3://|gs://|https?://", word.text)]
    local = [word for word in operands if word not in remote]
    goes_out = bool(remote) and bool(operands) and operands[-1] in remote
    if goes_out and (names_sensitive(call, local) or (call.stdin is not None and call.stdin.secret)):
        yield call.find("credential.send", HIGH, _LEAK)


@rule("gpg gpg2")
def gpg(call: ProgramCall) -> Iterator[Answer]:
    """Secret keys that leave the key ring."""
    flags = call.options("o: r: u:").flags
    if any(flag.startswith(("export-secret", "delete-secret")) for flag in flags):
        yield call.find("credential.export", HIGH, "exports or deletes secret keys")


@rule("find")
def find_keys(call: ProgramCall) -> Iterator[Answer]:
    """A search for private keys over the whole machine."""
    texts = [word.text for word in call.args]
    wanted = [texts[at + 1] for at, text in enumerate(texts[:-1]) if text in ("-name", "-iname")]
    from_root = bool(texts) and texts[0] in ("/", "/home", "/root")
    if from_root and any(is_secret(locate(literal(name.replace("*", "x")))) for name in wanted):
        yield call.find("credential.search", HIGH, "searches the machine for private keys")


table("getent", "", [Subcommand("shadow|gshadow", HIGH, "credential.read", "shows password hashes")])
table(
    "vault",
    "format: field:",
    [
        Subcommand("kv get", HIGH, "credential.read", "shows secrets"),
        Subcommand("read", HIGH, "credential.read", "shows secrets"),
        Subcommand("delete|destroy", HIGH, "credential.delete", "deletes secrets"),
        Subcommand("kv metadata get|put|patch", SAFE, "", ""),
        Subcommand("kv delete|destroy|metadata", HIGH, "credential.delete", "deletes secrets"),
        Subcommand("operator seal|generate-root|rekey|raft", HIGH, "credential.delete", "locks or changes the vault"),
        Subcommand("secrets|auth disable", HIGH, "credential.delete", "deletes secrets"),
        Subcommand("audit disable", HIGH, "history.audit", "switches the audit off"),
        Subcommand("policy|namespace delete", HIGH, "credential.delete", "deletes who may do what"),
        Subcommand(
            "lease revoke", HIGH, "credential.delete", "takes credentials that are in use away", needs="prefix force"
        ),
        Subcommand("token|lease revoke", MODERATE, "credential.delete", "takes a credential away"),
    ],
)
table(
    "secret-tool pass op bw lpass gopass",
    "",
    [
        Subcommand("lookup|show|read|get|item|ls", MODERATE, "credential.read", "shows a secret"),
        Subcommand("rm|delete|clear", HIGH, "credential.delete", "deletes secrets"),
    ],
)
table(
    "unshadow john hashcat mimikatz mimikatz.exe lazagne secretsdump.py impacket-secretsdump responder.py",
    "",
    [Subcommand("", HIGH, "credential.crack", "cracks or collects passwords")],
)
table(
    "ssh-keyscan ssh-copy-id ssh-keygen",
    "",
    [Subcommand("", MODERATE, "credential.keys", "changes keys", needs="R i f")],
)
table(
    "op gh gcloud az",
    "",
    [Subcommand("auth token|print-access-token|print-identity-token", MODERATE, "credential.read", "shows a token")],
)
