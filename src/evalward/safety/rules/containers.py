"""Containers, clusters and virtual machines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.listing import lists_everything
from evalward.safety.model import HIGH, MODERATE
from evalward.safety.options import Options
from evalward.safety.registry import Subcommand, rate_rows, rule, table
from evalward.safety.sensitive import is_secret, names_secret
from evalward.safety.targets import PlaceKind, is_vital, locate
from evalward.safety.words import Word, literal

_GLOBAL = (
    "H/host: c/context: l/log-level: config: D n/namespace: f/file: p/project-name: profile: env-file: "
    "project-directory: dry-run"
)
_RUN = (
    "e/env: v/volume: p/publish: w/workdir: u/user: l/label: h/hostname: m/memory: a/attach: "
    "c/cpu-shares: name: network/net: entrypoint: env-file: mount: cap-add: cap-drop: security-opt: "
    "device: pid: ipc: uts: userns: restart: cpus: link: add-host: dns: log-driver: log-opt: gpus: "
    "platform: expose: ulimit: shm-size: tmpfs: volumes-from: group-add: runtime: ip: cgroupns: pull: "
    "stop-timeout: health-cmd: sysctl: cidfile: privileged i t d rm init read-only P q"
)
_MANAGE = (
    "filter: t/time: s/signal: volumes/v f/force a/all l no-prune keep-storage: scale: timeout: replicas: availability:"
)
_EXEC = "e/env: u/user: w/workdir: env-file: index: i t d T privileged"
_CAPABILITIES = re.compile(
    r"(?:CAP_)?(?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|SYS_RAWIO|NET_ADMIN|DAC_READ_SEARCH|BPF)\Z", re.I
)


@rule("docker podman nerdctl docker-compose podman-compose")
def docker(call: ProgramCall) -> Iterator[Answer]:
    """Judge running containers, commands in them, and what is removed."""
    leading = call.leading(_GLOBAL)
    operands, previews = leading.operands, leading.enabled("dry-run")
    group: tuple[Word, ...] = ()
    if operands and operands[0].text in ("container", "compose", "image"):
        group = operands[:1]
        leading = call.with_args(operands[1:]).leading(_GLOBAL)
        operands, previews = leading.operands, previews or leading.enabled("dry-run")
    if not operands or previews:
        return
    verb, inner = operands[0].text, call.with_args(operands[1:])
    if verb in ("run", "create"):
        yield from _run(call, inner.leading(_RUN))
    elif verb == "exec":
        yield from _exec(call, inner.leading(_EXEC))
    elif verb == "cp":
        yield from _copied(call, inner.options("a/archive L/follow-link q/quiet").operands)
    elif verb == "unshare":
        yield NestedCommand(words=inner.leading("rootless-netns").operands, stdin=call.stdin)
    else:
        options = call.with_args((*group, *operands)).options(_MANAGE)
        yield from rate_rows(call, options, _DOCKER_ROWS)
        yield from _taken_away(call, verb, options)
        if verb in ("rm", "rmi", "stop", "kill", "pause", "remove"):
            yield from _many(call, verb, options.operands)


def _copied(call: ProgramCall, operands: tuple[Word, ...]) -> Iterator[Answer]:
    """``cp CONTAINER:FILE FILE`` or the other way: a secret leaves where it belongs."""
    files = (word.after(word.text.find(":") + 1) if word.literal else word for word in operands[:1])
    if names_secret(call, files):
        yield call.find("credential.copy", HIGH, "copies a private key or stored passwords away")


def _taken_away(call: ProgramCall, verb: str, options: Options) -> Iterator[Answer]:
    """A service without replicas, or a node without tasks."""
    values = [word.text for word in options.all_values("replicas", "availability")]
    if verb in ("service", "node") and ("0" in values or "drain" in values):
        yield call.find("container.swarm", HIGH, "takes a node or services away")


def _exec(call: ProgramCall, options: Options) -> Iterator[Answer]:
    if options.has("privileged"):
        yield call.find("container.privileged", HIGH, "runs with all powers of the host")
    if len(options.operands) > 1:
        yield NestedCommand(words=options.operands[1:], stdin=call.stdin, elsewhere=True, privileged=False)


def _many(call: ProgramCall, verb: str, operands: tuple[Word, ...]) -> Iterator[Answer]:
    """Removing what a listing prints means removing all of it."""
    if any(lists_everything(word) for word in operands):
        yield call.find("container.all", HIGH, f"{verb} of everything that is listed")


def _run(call: ProgramCall, options: Options) -> Iterator[Answer]:
    if options.has("privileged"):
        yield call.find("container.privileged", HIGH, "runs with all powers of the host")
    if any(_CAPABILITIES.match(word.text) for word in options.all_values("cap-add")):
        yield call.find("container.capability", HIGH, "gives a container powers over the host")
    if any(word.text == "host" for word in options.all_values("pid", "ipc", "userns", "uts", "cgroupns")):
        yield call.find("container.namespace", HIGH, "lets a container see the host's processes")
    if any("unconfined" in word.text for word in options.all_values("security-opt")):
        yield call.find("container.confinement", HIGH, "takes the confinement of a container away")
    for device in options.all_values("device"):
        if locate(device).place is PlaceKind.DISK:
            yield call.find("container.device", HIGH, "gives a container a disk of the host")
    yield from _mounts(call, options)
    entry = options.value("entrypoint")
    command = ((entry,) if entry is not None else ()) + options.operands[1:]
    if command:
        yield NestedCommand(words=command, stdin=call.stdin, elsewhere=True, privileged=False)


def _mounts(call: ProgramCall, options: Options) -> Iterator[Answer]:
    for word in options.all_values("v"):
        source, _, rest = word.text.partition(":")
        yield from _mount(call, word, source, read_only=rest.endswith(":ro") or ":ro," in rest)
    for word in options.all_values("mount"):
        match = re.search(r"(?:source|src)=([^,]+)", word.text)
        if match:
            yield from _mount(call, word, match[1], read_only="readonly" in word.text or ",ro" in word.text)


def _mount(call: ProgramCall, word: Word, source: str, read_only: bool) -> Iterator[Answer]:
    if source.endswith(("docker.sock", "containerd.sock", "podman.sock", "crio.sock")):
        yield call.find("container.socket", HIGH, "gives a container control over all others")
        return
    target = locate(word if word.home and source == "~" else literal(source))
    whole_home = target.place is PlaceKind.HOME or source in ("/root", "/home", "/Users", "/var")
    vital = (
        target.place is PlaceKind.ROOT
        or (is_vital(target) and target.path.count("/") == 1)
        or target.place is PlaceKind.KERNEL
    )
    if is_secret(target) or target.place is PlaceKind.ROOT or (not read_only and (vital or whole_home)):
        yield call.find("container.mount", HIGH, f"gives a container {source} of the host")


_GONE = "deletes containers' data"
_CHANGES = "stops or removes containers"

_DOCKER_ROWS = (
    Subcommand("system prune", HIGH, "container.prune", _GONE, needs="a volumes f"),
    Subcommand("system reset", HIGH, "container.prune", _GONE),
    Subcommand("rm|pod|rmi|stop|kill", HIGH, "container.all", _GONE, needs="a"),
    Subcommand("container|pod rm|stop|kill", HIGH, "container.all", _GONE, needs="a"),
    Subcommand("machine rm|reset", HIGH, "machine.delete", "deletes the machine that containers run in"),
    Subcommand("kube|play down", HIGH, "container.volume", _GONE, needs="f"),
    Subcommand("namespace|ns rm|remove", HIGH, "container.all", _GONE),
    Subcommand("volume rm|remove|prune", HIGH, "container.volume", _GONE),
    Subcommand("system|image|container|network|builder|buildx prune", MODERATE, "container.prune", _CHANGES),
    Subcommand("compose down|rm", HIGH, "container.volume", _GONE, needs="volumes"),
    Subcommand("down|rm", MODERATE, "container.stop", _CHANGES, unless="volumes"),
    Subcommand("down", HIGH, "container.volume", _GONE, needs="volumes"),
    Subcommand("swarm leave", HIGH, "container.swarm", "takes a node or services away"),
    Subcommand(
        "stack|service|secret|config|node rm|remove",
        HIGH,
        "container.swarm",
        "takes a node or services away",
    ),
    Subcommand("... *=0", HIGH, "container.swarm", "takes a service away"),
    Subcommand(
        "plugin install", HIGH, "container.privileged", "gives a plugin all it asks for", needs="grant-all-permissions"
    ),
    Subcommand("rm|rmi|stop|kill|restart|pause|update|rename", MODERATE, "container.stop", _CHANGES),
    Subcommand("compose down|rm|stop|kill|restart", MODERATE, "container.stop", _CHANGES),
    Subcommand("container|image|network|context rm|stop|kill", MODERATE, "container.stop", _CHANGES),
    Subcommand("push|login|logout|import|load", MODERATE, "container.registry", "changes images or a registry"),
)


@rule("dockerd")
def daemon(call: ProgramCall) -> Iterator[Answer]:
    """Who reaches the service of containers has the machine."""
    options = call.options("H/host: D tlsverify")
    if any(word.text.startswith("tcp://") for word in options.all_values("H")) and not options.has("tlsverify"):
        yield call.find("container.socket", HIGH, "lets everybody on the network control containers")


_NODE_VERBS = ("rm", "rmi", "rmp", "stop", "stopp", "kill", "remove", "delete", "del")


@rule("crictl ctr")
def node_containers(call: ProgramCall) -> Iterator[Answer]:
    """The tools of one node: ``crictl VERB``, ``ctr NOUN VERB``."""
    options = call.options("n/namespace: a/all: address: r/runtime-endpoint: i/image-endpoint: s/signal: privileged")
    if call.program == "crictl":
        options = call.options("r/runtime-endpoint: i/image-endpoint: t/timeout: a/all f/force q prune")
    texts = [word.text for word in options.operands]
    verb = next((text for text in texts[:2] if text in _NODE_VERBS), "")
    if call.program == "ctr" and texts[:1] == ["run"]:
        if options.has("privileged"):
            yield call.find("container.privileged", HIGH, "runs with all powers of the host")
    elif verb and texts[0] in ("namespaces", "namespace", "ns"):
        yield call.find("container.all", HIGH, _GONE)
    elif verb:
        wide = options.has("a", "all", "prune") or any(map(lists_everything, options.operands))
        yield call.find("container.all" if wide else "container.stop", HIGH if wide else MODERATE, _CHANGES)


_REGISTRY = "deletes images that others use"
table("skopeo", "creds: authfile:", [Subcommand("delete", HIGH, "container.registry", _REGISTRY)])
table("crane gcrane", "", [Subcommand("delete", HIGH, "container.registry", _REGISTRY)])
table(
    "oras regctl",
    "",
    [
        Subcommand("manifest|blob|tag|repo delete|rm", HIGH, "container.registry", _REGISTRY),
        Subcommand("push|cp|copy|tag|image", MODERATE, "container.registry", "changes images or a registry"),
    ],
)
table(
    "buildah",
    "a/all f/force",
    [
        Subcommand("rmi|rm|prune", HIGH, "container.all", _GONE, needs="a"),
        Subcommand("rmi|rm|prune", MODERATE, "container.stop", _CHANGES),
    ],
)
