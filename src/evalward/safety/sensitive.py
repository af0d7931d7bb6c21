"""Which files and variables hold credentials."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evalward.safety.call import ProgramCall
from evalward.safety.targets import PathTarget
from evalward.safety.words import Word

_SECRET = re.compile(
    r"/etc/(?:g?shadow-?|krb5\.keytab|ssl/private/.+|ssh/ssh_host_\w+_key)"
    r"|/dev/k?mem|/proc/kcore|/proc/[^/]+/(?:environ|mem)|(?:/var)?/run/secrets(?:/.*)?"
    r"|(?:.*/)?(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|[\w.-]*(?:_rsa|_ed25519)|privkey\d*\.pem"
    r"|[\w.-]*private[\w.-]*\.pem|[\w.-]+\.(?:key|p12|pfx|kdbx)|Login Data|logins\.json|Cookies"
    r"|\.(?:netrc|pgpass|git-credentials|my\.cnf|vault-token|htpasswd|pypirc)"
    r"|Library/Keychains(?:/.*)?|key[34]\.db|\.aws/credentials|\.kube/config|\.docker/config\.json|\.gnupg/(?:secring\.gpg|private-keys.*)"
    r"|\.azure/.*[Tt]oken.*|\.config/(?:gh/hosts\.yml|gcloud/.*(?:credentials|access_tokens).*|hub))"
)
_SENSITIVE = re.compile(
    r"(?:.*/)?\.(?:ssh|aws|gnupg|kube|azure|password-store)(?:/.*)?|/etc(?:/passwd|/group|/sudoers)?"
    r"|(?:.*/)?\.env(?:\.\w+)?|(?:.*/)?[\w.-]+\.pem|(?:.*/)?\.\w*_?history|(?:.*/)?\.npmrc|(?:.*/)?\.config/.*"
    r"|(?:.*/)?Library/(?:Messages|Mail|Calendars|Safari|Cookies|Application Support/AddressBook)(?:/.*)?"
    r"|(?:.*/)?\.docker(?:/.*)?|(?:.*/)?(?:secrets?|credentials?|passwords?)(?:\.\w+)?|~|/root(?:/.*)?"
)
_HARMLESS = re.compile(r".*\.(?:pub|example|sample|template|dist)|.*/known_hosts")


def is_secret(target: PathTarget) -> bool:
    """Say whether a file holds a credential: showing it is already a leak."""
    if target.everything and target.name in (".ssh", ".gnupg", ".aws"):
        return True
    path = target.path.replace("*", "rsa").replace("?", "a")
    return bool(_SECRET.fullmatch(path)) and not _HARMLESS.fullmatch(path)


def is_sensitive(target: PathTarget) -> bool:
    """Say whether a file must not leave the machine."""
    if is_secret(target):
        return True
    return bool(_SENSITIVE.fullmatch(target.path.replace("*", "x"))) and not _HARMLESS.fullmatch(target.path)


def names_secret(call: ProgramCall, words: Iterable[Word]) -> bool:
    """Say whether one of ``words`` is a file with a credential."""
    return any(is_secret(target) for _, target in call.places(words) if target.path)


def names_sensitive(call: ProgramCall, words: Iterable[Word]) -> bool:
    """Say whether one of ``words`` is a file that must not leave the machine, or holds what one printed."""
    return any(_holds_secret(call, word, target) for word, target in call.places(words))


def _holds_secret(call: ProgramCall, word: Word, target: PathTarget) -> bool:
    written = call.scope.files.get(word.text)
    return is_sensitive(target) or any(flow.secret for flow in word.flows) or (written is not None and written.private)
