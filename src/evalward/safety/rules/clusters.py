"""Clusters: kubectl and its relatives, charts, and what sets clusters up or takes them down."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.options import Options
from evalward.safety.registry import Subcommand, rate_rows, rule, table
from evalward.safety.rules.shells import written_file
from evalward.safety.words import names

_KUBECTL = (
    "n/namespace: context: kubeconfig: l/selector: f/filename: k/kustomize: o/output: c/container: s/server: user: "
    "cluster: replicas: field-selector: grace-period: p/patch: type: as: token: timeout: image: dry-run: "
    "cascade: A/all-namespaces all clusterrole: serviceaccount: group: overrides: profile: address: "
    "accept-hosts: force raw"
)
_KUBECTL_VERBS = names(
    "exec delete get describe apply create scale drain replace logs rollout config label annotate taint run debug "
    "proxy patch edit set adm policy cordon uncordon auth explain top cp expose autoscale wait diff"
)
_CLUSTER = "deletes or empties parts of a cluster"
_RIGHTS = "gives rights in a cluster"
_HOST = "runs with all powers of the host"
_READING_ROLES = names("view")

_KUBECTL_ROWS = (
    Subcommand("drain|evict", HIGH, "cluster.drain", "takes a node out of a cluster"),
    Subcommand("replace", HIGH, "cluster.delete", _CLUSTER, needs="force"),
    Subcommand("apply", HIGH, "cluster.delete", _CLUSTER, needs="prune"),
    Subcommand("adm top|inspect|must-gather|node-logs|verify-*", SAFE, "", ""),
    Subcommand("adm|policy", HIGH, "cluster.rights", "administers a cluster"),
    Subcommand("config view", HIGH, "credential.read", "shows credentials of a cluster", needs="raw"),
    Subcommand("config delete-*|unset", MODERATE, "cluster.config", "changes the configuration"),
    Subcommand(
        "cordon|uncordon|taint|label|annotate|patch|edit|set|apply|create|rollout|scale|autoscale|run|expose|cp",
        MODERATE,
        "cluster.change",
        "changes a cluster",
    ),
)


@rule("kubectl oc")
def kubectl(call: ProgramCall) -> Iterator[Answer]:
    """Judge commands in pods, deletion, scaling, rights and secrets."""
    options = call.options(_KUBECTL)
    texts = [word.text for word in options.operands]
    start = next((at for at, text in enumerate(texts[:3]) if text in _KUBECTL_VERBS), 0)
    texts = texts[start:]  # in front of the verb stands a value of an option that is not known here
    verb = texts[0] if texts else ""
    if verb == "exec":
        yield from _in_pod(call)
    elif options.enabled("dry-run"):
        return
    elif verb == "delete":
        level = MODERATE if _is_narrow(texts, options) else HIGH
        yield call.find("cluster.delete", level, _CLUSTER)
    elif verb == "get" and texts[1:2] and texts[1].split("/")[0] in ("secret", "secrets"):
        if options.has("o") and "name" not in [word.text for word in options.all_values("o")]:
            yield call.find("credential.read", HIGH, "shows secrets of a cluster")
    else:
        yield from _fetched(call, verb, options)
        yield from _rights(call, verb, texts, options)
        yield from _emptied(call, verb, texts, options)
        yield from rate_rows(call, options, _KUBECTL_ROWS)


@rule("k3s microk8s k0s minikube")
def bundled(call: ProgramCall) -> Iterator[Answer]:
    """Small distributions bring ``kubectl`` along as a subcommand."""
    operands = call.leading("p: profile:").operands
    if operands and operands[0].text in ("kubectl", "kc"):
        yield NestedCommand(words=operands, stdin=call.stdin)


def _is_narrow(texts: list[str], options: Options) -> bool:
    """One pod or job comes back or was done anyway; pods that have ended do nothing any more."""
    kinds = ("pod", "pods", "po", "job", "jobs", "event", "events")
    words = texts[1].split("/") + texts[2:] if len(texts) > 1 else []
    if not words or words[0] not in kinds:
        return False
    ended = [word.text in _ENDED for word in options.all_values("field-selector")]
    if ended:
        return all(ended)
    return len(words) == 2 and not options.has("all", "A", "l", "force", "f", "now")


_ENDED = ("status.phase=Failed", "status.phase==Failed", "status.phase=Succeeded", "status.phase==Succeeded")


_ELSEWHERE = re.compile(r"(?:https?|ssh|git)://|git@|git::|(?:github|gitlab|bitbucket)\.(?:com|org)/")


def _fetched(call: ProgramCall, verb: str, options: Options) -> Iterator[Answer]:
    """A manifest says what runs in a cluster, and with which rights: one from the network nobody has read."""
    if verb not in ("apply", "create", "replace"):
        return
    for value in options.all_values("f", "k"):
        flow = call.stdin if value.text == "-" else written_file(call, value)
        remote = any(each.remote for each in (*value.flows, *([flow] if flow is not None else [])))
        if remote or _ELSEWHERE.match(value.text):
            yield call.find("remote.execute", HIGH, "makes a cluster run what comes from the network")


def _rights(call: ProgramCall, verb: str, texts: list[str], options: Options) -> Iterator[Answer]:
    """Who may do what, and what may leave its container."""
    role = options.value("clusterrole")
    if verb == "create" and texts[1:2] in (["clusterrolebinding"], ["rolebinding"]):
        reads = role is not None and role.text in _READING_ROLES
        yield call.find("cluster.rights", MODERATE if reads else HIGH, _RIGHTS)
    elif verb == "label" and any(text.endswith(("/enforce=privileged", "/enforce-")) for text in texts):
        yield call.find("cluster.rights", HIGH, "lets pods run with all powers of the host")
    elif verb == "debug" and any(text.startswith(("node/", "nodes/", "no/")) for text in texts[1:]):
        yield call.find("container.privileged", HIGH, "opens the file system of a node")
    elif verb in ("run", "debug") and _is_privileged(options):
        yield call.find("container.privileged", HIGH, _HOST)
    elif verb == "proxy" and _everybody(options):
        yield call.find("cluster.rights", HIGH, "lets everybody on the network control a cluster")


def _is_privileged(options: Options) -> bool:
    overrides = " ".join(word.text for word in options.all_values("overrides"))
    escapes = re.search(r"\"(?:privileged|hostPID|hostIPC|hostNetwork)\"\s*:\s*true|\"hostPath\"", overrides)
    return options.enabled("privileged") or bool(escapes) or "sysadmin" in _texts(options, "profile")


def _everybody(options: Options) -> bool:
    """Say whether a proxy listens beyond this machine."""
    local = ("127.0.0.1", "localhost", "::1")
    return any(text not in local for text in _texts(options, "address"))


def _texts(options: Options, name: str) -> list[str]:
    return [word.text for word in options.all_values(name)]


def _emptied(call: ProgramCall, verb: str, texts: list[str], options: Options) -> Iterator[Answer]:
    """No replicas: the service is gone. A taint that does not tolerate what runs: so is the node."""
    if verb in ("scale", "autoscale") and "0" in _texts(options, "replicas"):
        yield call.find("cluster.scale", HIGH, "takes a service away")
    elif verb == "taint" and any(text.endswith(":NoExecute") for text in texts):
        yield call.find("cluster.drain", HIGH, "takes a node out of a cluster")
    elif verb == "patch" and any(re.search(r"\"replicas\"\s*:\s*0\b", text) for text in _texts(options, "p")):
        yield call.find("cluster.scale", HIGH, "takes a service away")


def _in_pod(call: ProgramCall) -> Iterator[Answer]:
    texts = [word.text for word in call.args]
    after = texts.index("--") + 1 if "--" in texts else None
    words = call.options(_KUBECTL).operands[2:] if after is None else call.args[after:]
    if words:
        yield NestedCommand(words=words, stdin=call.stdin, elsewhere=True)


_CHANGES = "changes a cluster"
table(
    "helm",
    "n/namespace: f/values: kube-context: set: version: dry-run",
    [
        Subcommand("*", SAFE, "", "", needs="dry-run"),
        Subcommand("uninstall|delete|del|un|destroy", HIGH, "cluster.delete", _CLUSTER),
        Subcommand("install|upgrade|rollback", MODERATE, "cluster.change", _CHANGES),
    ],
)
table(
    "helmfile",
    "e/environment: f/file: l/selector: n/namespace: set: kube-context:",
    [
        Subcommand("delete|destroy", HIGH, "cluster.delete", _CLUSTER),
        Subcommand("apply|sync|charts", MODERATE, "cluster.change", _CHANGES),
    ],
)
table(
    "argocd flux istioctl linkerd cilium velero",
    "n/namespace: s/silent y/yes dry-run context: kubeconfig: l/selector:",
    [
        Subcommand("*", SAFE, "", "", needs="dry-run"),
        Subcommand("uninstall|delete", HIGH, "cluster.delete", _CLUSTER),
        Subcommand("* delete|rm|remove", HIGH, "cluster.delete", _CLUSTER),
        Subcommand("app terminate-op|rollback|set|sync", MODERATE, "cluster.change", _CHANGES),
        Subcommand(
            "install|upgrade|create|bootstrap|suspend|resume|restore|backup|schedule",
            MODERATE,
            "cluster.change",
            _CHANGES,
        ),
    ],
)
table(
    "kops",
    "name: state: f/filename: y/yes",
    [
        Subcommand("delete", HIGH, "cluster.delete", _CLUSTER, needs="y"),
        Subcommand("delete", MODERATE, "cluster.delete", "shows what would go"),
    ],
)
table(
    "tilt skaffold devspace",
    "p: f: n: context: delete-namespaces",
    [
        Subcommand("down", HIGH, "cluster.delete", _CLUSTER, needs="delete-namespaces"),
        Subcommand("delete|purge", HIGH, "cluster.delete", _CLUSTER),
        Subcommand("down|up|dev|run|deploy|ci", MODERATE, "cluster.change", _CHANGES),
    ],
)
_LOCAL = "deletes local clusters"
table(
    "minikube kind k3d colima limactl",
    "p/profile: n/name: a/all purge f/force",
    [
        Subcommand("delete|cluster", HIGH, "cluster.local", _LOCAL, needs="a purge", unless="list"),
        Subcommand("delete", MODERATE, "cluster.local", _LOCAL),
        Subcommand("cluster|stop delete", MODERATE, "cluster.local", _LOCAL),
    ],
)
table(
    "k3s-uninstall.sh k3s-agent-uninstall.sh rke2-uninstall.sh k3s-killall.sh rke2-killall.sh",
    "",
    [Subcommand("", HIGH, "cluster.delete", _CLUSTER)],
)
table(
    "kubeadm microk8s k0s rke talosctl",
    "n/nodes: e/endpoints: config: dry-run",
    [
        Subcommand("*", SAFE, "", "", needs="dry-run"),
        Subcommand("reset|remove", HIGH, "cluster.delete", _CLUSTER),
        Subcommand("shutdown|reboot", HIGH, "machine.down", "stops or restarts the machine"),
        Subcommand("upgrade plan|diff", SAFE, "", ""),
        Subcommand("stop", HIGH, "service.stop", "stops a service"),
        Subcommand("init|join|upgrade|up|enable|disable|apply-config|bootstrap", MODERATE, "cluster.change", _CHANGES),
    ],
)
table(
    "docker-machine",
    "f y",
    [
        Subcommand("rm", HIGH, "machine.delete", "deletes a virtual machine"),
        Subcommand("stop|kill|restart", MODERATE, "machine.stop", "stops a virtual machine"),
    ],
)
_STORAGE = "deletes what a cluster stores"
table(
    "ceph rados rbd",
    "p/pool: i: n: c: f: format:",
    [
        Subcommand("osd pool delete|rm", HIGH, "cluster.storage", _STORAGE),
        Subcommand("osd purge|destroy|rm|lost|out|down", HIGH, "cluster.storage", _STORAGE),
        Subcommand("fs rm|fail", HIGH, "cluster.storage", _STORAGE),
        Subcommand("purge|rmpool|rm|remove", HIGH, "cluster.storage", _STORAGE),
        Subcommand("snap purge|rm|remove", HIGH, "cluster.storage", _STORAGE),
        Subcommand("auth del|rm", HIGH, "cluster.rights", "takes rights away"),
    ],
)
