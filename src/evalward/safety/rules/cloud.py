"""Command-line tools of cloud providers. Infrastructure as code and object storage have files of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.options import Options
from evalward.safety.registry import rule
from evalward.safety.sql import rate_sql
from evalward.safety.words import Word, literal, names

_DELETES = "deletes things in the cloud"
_RIGHTS_GIVEN = "gives rights or opens access"
_AWAY = "takes a service away"
_EVERYWHERE = names("0.0.0.0/0 ::/0 * Internet any Any")
_AWS = (
    "region: profile: output: query: endpoint-url: instance-ids: db-instance-identifier: bucket: key: id: "
    "user-name: policy-arn: role-name: stack-name: function-name: table-name: group-id: name: cluster: "
    "service: dryrun/dry-run recursive force delete policy-document: secret-id: desired-count: min-size: "
    "parameters: document-name: acl: cidr: max-size: desired-capacity: reserved-concurrent-executions: "
    "backup-retention-period: retention-in-days: query-string: statement: sql: query-execution-id: "
    "principal: launch-permission: create-volume-permission: group-names: user-group: values-to-add: "
    "versioning-configuration: point-in-time-recovery-specification: public-access-block-configuration:"
)
_AWS_DELETES = re.compile(
    r"(?:batch-|bulk-)?(?:delete|terminate|deregister|purge|remove|destroy|disable|detach|revoke|release"
    r"|schedule-key-deletion|cancel(?!-key-deletion)|stop|reset|reboot|abort|force|deactivate|leave"
    r"|close-account)(?:-|$)"
)
_AWS_NARROW = names(
    "delete-object delete-message stop-query-execution stop-query delete-tags delete-item untag-resource "
    "remove-tags-from-resource cancel-query"
)
_AWS_RIGHTS = re.compile(
    r"(?:attach|put)-(?:user|role|group|bucket)-policy|create-access-key|create-login-profile"
    r"|(?:set|put)-(?:repository|registry|resource|key|file-system|access-point|backup-vault-access)-policy"
    r"|create-policy-version|add-user-to-group|update-assume|authorize-security|put-bucket-acl|put-public"
)
_AWS_EVERYBODY = re.compile(r"\*|all|\{?\"?AWS\"?[:=]\s*\"?\*\"?\}?|.*Group\"?[=:]\s*\"?all\b.*", re.IGNORECASE)
"""A principal, or a group that is given an image or a snapshot, that is every account there is."""
_AWS_SECRETS = re.compile(r"get-secret-value|batch-get-secret-value|decrypt|get-password-data|export-credentials")
_AWS_READS = re.compile(
    r"(?:describe|list|get|head|lookup|search|wait|help|estimate|view|select|query|scan|filter|tail|ls|validate)"
)
_AWS_UNPROTECTS = (
    "no-deletion-protection",
    "no-deletion-protection-enabled",
    "no-enable-deletion-protection",
    "no-enable-termination-protection",
    "no-disable-api-termination",
    "publicly-accessible",
)
"""Switches that take a protection away."""
_AWS_UNPROTECTED = re.compile(r"Status=Suspended|PointInTimeRecoveryEnabled=false", re.IGNORECASE)


@rule("aws awslocal aliyun")
def aws(call: ProgramCall) -> Iterator[Answer]:
    """Judge the operation by its verb."""
    options = call.options(_AWS)
    texts = [word.text for word in options.operands]
    if len(texts) < 2 or options.enabled("dryrun") or texts[-1] == "help":
        return
    service, verb = texts[0], _kebab(texts[1])
    if service == "s3":
        yield from _s3(call, verb, options.has("recursive", "force", "delete"))
    elif _AWS_DELETES.match(verb):
        yield call.find("cloud.delete", MODERATE if verb in _AWS_NARROW else HIGH, _DELETES)
    elif _AWS_RIGHTS.match(verb):
        yield from _aws_rights(call, verb, options)
    elif (
        _AWS_SECRETS.match(verb)
        or _line(texts, "configure get aws_secret")
        or (verb.startswith("get-parameter") and options.has("with-decryption"))
    ):
        yield call.find("credential.read", HIGH, "shows secrets")
    else:
        yield from _aws_change(call, verb, options)


def _kebab(verb: str) -> str:
    """Write ``DeleteInstance`` like ``delete-instance``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", verb).lower()


def _aws_rights(call: ProgramCall, verb: str, options: Options) -> Iterator[Answer]:
    """A door that is opened to known addresses alone is ordinary work."""
    addresses = [word.text for word in options.all_values("cidr")]
    narrow = verb.startswith("authorize-security") and addresses and not _EVERYWHERE.intersection(addresses)
    yield call.find("cloud.rights", MODERATE if narrow else HIGH, _RIGHTS_GIVEN)


_AWS_SIZES = ("desired-count", "desired-capacity", "min-size", "max-size", "reserved-concurrent-executions")


def _aws_change(call: ProgramCall, verb: str, options: Options) -> Iterator[Answer]:
    values = [value.text for _, value in options.values]
    retention = options.value("backup-retention-period")
    given = options.all_values(
        "principal", "launch-permission", "create-volume-permission", "group-names", "user-group", "values-to-add"
    )
    if any(_AWS_EVERYBODY.fullmatch(word.text) for word in given) and not _AWS_READS.match(verb):
        yield call.find("cloud.rights", HIGH, _RIGHTS_GIVEN)
    elif any(word.text == "0" for word in options.all_values(*_AWS_SIZES)):
        yield call.find("cloud.scale", HIGH, _AWAY)
    elif options.enabled(*_AWS_UNPROTECTS) or any(map(_AWS_UNPROTECTED.search, values)):
        yield call.find("cloud.protection", HIGH, "takes a protection away")
    elif retention is not None and retention.text == "0":
        yield call.find("cloud.protection", HIGH, "keeps no backups from now on")
    elif any(word.text == "1" for word in options.all_values("retention-in-days")):
        yield call.find("cloud.protection", HIGH, "deletes all but the last day of a log")
    elif not _AWS_READS.match(verb):
        yield call.find("cloud.change", MODERATE, "changes things in the cloud")
    yield from _sql(call, options.all_values("query-string", "statement", "sql"))
    for value in options.all_values("parameters"):
        match = re.search(r"commands=\W*(.+?)[\"'\]]*$", value.text)
        if verb == "send-command" and match:
            yield NestedCommand(script=literal(match[1]), elsewhere=True)


def _s3(call: ProgramCall, verb: str, wide: bool) -> Iterator[Answer]:
    if verb == "rb" or (verb == "rm" and wide):
        yield call.find("cloud.delete", HIGH, "deletes a bucket or what is in it")
    elif verb == "sync" and wide:
        yield call.find("cloud.delete", HIGH, "deletes what the source lacks")
    elif verb in ("rm", "mv"):
        yield call.find("cloud.delete", MODERATE, "deletes an object")


def _sql(call: ProgramCall, statements: list[Word]) -> Iterator[Answer]:
    """Judge statements for a database in the cloud."""
    for value in statements:
        for level, reason, statement in rate_sql(value.text):
            yield call.find("database.sql", level, f"{reason}: {statement}")


_CLOUD = (
    "project: p: zone: region: g/resource-group: n/name: s/subscription: format: q/quiet yes y R/repo: "
    "a/app: c/config: command: method/X: f: F: t: H: jq: o/output: filter: limit: query: size: count: "
    "node-count: num-nodes: min-replicas: member: role: source-ranges: source-address-prefixes: allow: rules: "
    "access: destination-port-ranges: mode: visibility: sql: profile: dry-run dryrun preview authorized-networks: "
    "allow-blob-public-access: public-access: default-action: start-ip-address: end-ip-address: scripts: statements:"
)
_DESTRUCTIVE = re.compile(
    r"(?:bulk-|batch-)?(?:delete|destroy|terminate|purge|remove|rm|reset|rollback-all|deallocate|wipe|nuke|undeploy"
    r"|disable|stop|poweroff|power-off)(?:-.+)?\Z|.+=0\Z"
)
_ENDINGS = ("-delete", "-destroy", "-terminate")
"""Verbs that stand behind their noun: ``service-instance-delete``."""
_CHANGING = names(
    "create update set deploy restart scale merge close edit add run start apply push publish resize patch "
    "archive rename"
)
_RIGHTS = names("add-iam-policy-binding set-iam-policy sshkeys-add create-for-rbac")
_NARROW_TOPICS = names("issue label gist cache run pr")
_LOCAL_TOPICS = names("config components extension completion alias plugins plugin context configurations")
"""What the tool keeps on this machine."""
_ONE_OBJECT = (
    ["storage", "blob", "delete"],
    ["storage", "rm"],
    ["storage", "objects", "delete"],
    ["r2", "object", "delete"],
    ["kv", "key", "delete"],
)
_UNPROTECTS = (
    "no-backup",
    "no-deletion-protection",
    "no-public-access-prevention",
    "accept-visibility-change-consequences",
)
_OPEN_PORTS = re.compile(r"all|tcp|udp|\*|(?:tcp:)?(?:22|3389)|(?:tcp:|udp:)?0-65535", re.IGNORECASE)
_COUNTS = ("size", "count", "node-count", "num-nodes", "min-replicas")


@rule(
    "gcloud az doctl oci linode-cli hcloud ibmcloud scw vultr-cli exo openstack civo flyctl fly vercel "
    "netlify railway render firebase wrangler eksctl gh glab heroku cf nomad upctl ovh tccli yc databricks "
    "neonctl pscale turso hub confluent"
)
def cloud(call: ProgramCall) -> Iterator[Answer]:
    """These say what they do as ``NOUN… VERB``: look for a telling verb among the first operands."""
    options = call.options(_CLOUD)
    if options.enabled("dry-run", "dryrun", "preview", "what-if", "validate-only"):
        return
    texts = [word.text for word in options.operands[:5]]
    verbs = [part for text in texts[:4] for part in text.split(":")]
    method = options.value("method")
    named = any(text.endswith(_ENDINGS) for text in texts[:2])
    deletes = named or any(map(_DESTRUCTIVE.match, verbs)) or (method is not None and method.text.upper() == "DELETE")
    if deletes:
        yield call.find("cloud.delete", MODERATE if _is_narrow(call, texts, options) else HIGH, _DELETES)
    elif _gives_rights(texts, verbs, options):
        yield call.find("cloud.rights", HIGH, _RIGHTS_GIVEN)
    elif ("secrets" in texts and "access" in texts) or _line(texts, "keyvault secret show"):
        yield call.find("credential.read", HIGH, "shows secrets")
    elif _unprotects(call, texts, options):
        yield call.find("cloud.protection", HIGH, "takes a protection away, or a project out of use")
    elif _takes_away(texts, options):
        yield call.find("cloud.scale", HIGH, _AWAY)
    elif _CHANGING.intersection(verbs):
        yield call.find("cloud.change", MODERATE, "changes things in the cloud")
    yield from _sql(call, options.all_values("sql"))
    yield from _remote_command(call, texts, options)


def _is_narrow(call: ProgramCall, texts: list[str], options: Options) -> bool:
    """Say whether only one small thing goes, or something of this machine's."""
    if call.program in ("gh", "glab") and texts[0] in _NARROW_TOPICS:
        return True
    if _LOCAL_TOPICS.intersection(texts[:1]):
        return True
    deep = options.has("r", "R", "recursive", "bulk") or any("*" in word.text for word in options.operands)
    return any(texts[: len(start)] == start for start in _ONE_OBJECT) and not deep


def _gives_rights(texts: list[str], verbs: list[str], options: Options) -> bool:
    if _RIGHTS.intersection(verbs) or _line(texts, "role assignment create") or _makes_keys(texts):
        return True
    if _opens_to_everybody(options) or (_line(texts, "iam policy") and options.has("statements")):
        return True
    sources = {word.text for word in options.all_values("source-ranges", "source-address-prefixes")}
    ports = [word.text for word in options.all_values("allow", "rules", "destination-port-ranges")]
    denies = any(word.text.lower() == "deny" for word in options.all_values("access"))
    return bool(_EVERYWHERE & sources) and any(map(_OPEN_PORTS.fullmatch, ports)) and not denies


_PUBLIC = (
    ("authorized-networks", re.compile(r"(?:.*,)?(?:0\.0\.0\.0|::)/0(?:,.*)?")),
    ("allow-blob-public-access", re.compile(r"true", re.IGNORECASE)),
    ("public-access", re.compile(r"blob|container", re.IGNORECASE)),
    ("default-action", re.compile(r"allow", re.IGNORECASE)),
    ("end-ip-address", re.compile(r"255\.255\.255\.255")),
)
"""Settings by which a database or a store answers everybody."""


def _opens_to_everybody(options: Options) -> bool:
    return any(pattern.fullmatch(word.text) for name, pattern in _PUBLIC for word in options.all_values(name))


def _makes_keys(texts: list[str]) -> bool:
    """Keys of accounts that are made or shown; those of a key management service stay in it."""
    reads = texts[:1] == ["kms"] or (texts[:1] == ["iam"] and texts[-1] in ("list", "describe"))
    return "keys" in texts[:-1] and not reads


def _unprotects(call: ProgramCall, texts: list[str], options: Options) -> bool:
    if options.enabled(*_UNPROTECTS) or (_line(texts, "repo archive") and call.program in ("gh", "glab")):
        return True
    public = any(word.text == "public" for word in options.all_values("visibility"))
    complete = any(word.text.lower() == "complete" for word in options.all_values("mode"))
    return (public and _line(texts, "repo edit")) or (complete and _line(texts, "deployment") and "create" in texts)


def _takes_away(texts: list[str], options: Options) -> bool:
    scales = {"scale", "resize", "update"}.intersection(texts)
    zero = any(word.text == "0" for word in options.all_values(*_COUNTS))
    return bool(scales) and (zero or _line(texts, "scale count 0"))


def _remote_command(call: ProgramCall, texts: list[str], options: Options) -> Iterator[Answer]:
    """``--command``: a statement where it goes to a database, else a command for a shell."""
    commands = options.all_values("command", "scripts")
    if {"d1", "sql"}.intersection(texts):
        yield from _sql(call, commands)
    else:
        yield from (NestedCommand(script=value, elsewhere=True) for value in commands)


def _line(texts: list[str], start: str) -> bool:
    return " ".join(texts).startswith(start)
