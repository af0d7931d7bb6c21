"""What a hostile command tries to get out of its walls, or to leave behind them. A program for `python3 -c`.

`ATTEMPTS VICTIM ABSTRACT FOLDER SOCKET FILE…`: a process of ours, the name of an abstract socket of ours, a folder and
a path socket of ours, and files. It prints a line `GOT name` for every attempt that succeeds.
"""

from __future__ import annotations

import secrets

ATTEMPTS = r"""
import ctypes, errno, os, platform, signal, socket, sys

victim, abstract, folder, docker, *files = sys.argv[1:]
victim = int(victim)
libc = ctypes.CDLL(None, use_errno=True)
ARM = platform.machine() == "aarch64"


def got(name):
    print("GOT", name, flush=True)


def call(x86, arm, *arguments):
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in arguments]
    return libc.syscall(ctypes.c_long(arm if ARM else x86), *given)


def attempt(name, act):
    try:
        if act():
            got(name)
    except OSError:
        pass


def succeeds(x86, arm, *arguments):
    return lambda: call(x86, arm, *arguments) >= 0


def passed_the_filter(x86, arm, *arguments):
    # Nonsense is refused with another error by whatever lies behind the filter.
    def look():
        ctypes.set_errno(0)
        return call(x86, arm, *arguments) >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS)
    return look


def in_child(act):
    def look():
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = 0 if act() else 1
            finally:
                os._exit(code)
        return os.waitpid(child, 0)[1] == 0
    return look


def read(path):
    return lambda: len(open(path, "rb").read(1)) >= 0


def write(path):
    def look():
        with open(path, "ab") as file:
            file.write(b"x")
        return True
    return look


# --- other processes
attempt("environ", read(f"/proc/{victim}/environ"))
attempt("mem", read(f"/proc/{victim}/mem"))
attempt("root", lambda: os.listdir(f"/proc/{victim}/root"))
attempt("fd", lambda: os.readlink(f"/proc/{victim}/fd/0"))
attempt("signal", lambda: os.kill(victim, 0) is None)
attempt("kill", lambda: os.kill(victim, signal.SIGUSR1) is None)
attempt("ptrace seize", lambda: libc.ptrace(0x4206, victim, 0, 0) == 0)
attempt("ptrace attach", lambda: libc.ptrace(16, victim, 0, 0) == 0)
attempt("ptrace traceme", in_child(lambda: libc.ptrace(0, 0, 0, 0) == 0))
attempt("process_vm_readv", passed_the_filter(310, 270, victim, None, 0, None, 0, 0))
attempt("pidfd", lambda: hasattr(os, "pidfd_open") and call(438, 438, os.pidfd_open(victim), 0, 0) >= 0)

# --- files
for path in files:
    attempt(f"read {path}", read(path))
    attempt(f"write {path}", write(path))
attempt("list", lambda: os.listdir(folder))
for path in (folder, "/etc", "/usr", ""):
    attempt(f"write {path}", write(path + "/evalward-new"))
attempt("write core_pattern", write("/proc/sys/kernel/core_pattern"))


def write_text(path, text):
    with open(path, "w") as file:
        file.write(text)
    return True


attempt("oom_score_adj", lambda: write_text("/proc/self/oom_score_adj", "0"))

# --- terminals
for name in ("/dev/tty", "/dev/ptmx", "/dev/console", "/dev/tty0"):
    try:
        terminal = os.open(name, os.O_RDWR | os.O_NOCTTY)
    except OSError:
        continue
    if name != "/dev/ptmx":
        got("terminal " + name)
    attempt("inject " + name, lambda: libc.ioctl(terminal, 0x5412, b"x") == 0)
    attempt("unlock " + name, lambda: libc.ioctl(terminal, 0x541C, b"x") == 0)

# --- sockets
def connects(family, address):
    def look():
        with socket.socket(family) as one:
            one.settimeout(2)
            one.connect(address)
        return True
    return look


attempt("abstract socket", connects(socket.AF_UNIX, "\0" + abstract))
attempt("path socket", connects(socket.AF_UNIX, docker))
attempt("vsock", lambda: socket.socket(40, socket.SOCK_STREAM).fileno() >= 0)
attempt("kernel crypto", lambda: socket.socket(38, 5).fileno() >= 0)

# --- namespaces and mounts
NEWUSER, NEWNS = 0x10000000, 0x00020000
attempt("unshare user", in_child(succeeds(272, 97, NEWUSER)))
attempt("unshare mount", in_child(succeeds(272, 97, NEWNS)))
attempt("clone3", passed_the_filter(435, 435, None, 0))
attempt("setns", in_child(lambda: call(308, 268, os.open("/proc/self/ns/net", os.O_RDONLY), 0) >= 0))
attempt("mount", in_child(lambda: libc.mount(b"none", folder.encode(), b"tmpfs", 0, None) == 0))
attempt("fsopen", succeeds(430, 430, b"tmpfs", 0))
attempt("open_tree", succeeds(428, 428, -100, b"/", 1))


def cloned():
    child = call(56, 220, NEWUSER | 17, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    if child > 0:
        os.waitpid(child, 0)
    return child > 0


attempt("clone user", cloned)

# --- the kernel
attempt("add_key", succeeds(248, 217, b"user", b"evalward", b"left", 4, -3))
attempt("keyctl", passed_the_filter(250, 219, 0, -3, 0))
attempt("request_key", passed_the_filter(249, 218, b"user", b"evalward", None, 0))
attempt("bpf", passed_the_filter(321, 280, 0, None, 0))
attempt("perf", passed_the_filter(298, 241, None, 0, -1, -1, 0))
attempt("io_uring", passed_the_filter(425, 425, 1, None))
attempt("userfaultfd", passed_the_filter(323, 282, 1))
attempt("quotactl", passed_the_filter(179, 60, 0, None, 0, None))
attempt("personality", succeeds(135, 92, 0x0040000))
attempt("swapon", passed_the_filter(167, 224, b"/nothing", 0))
if not ARM:
    attempt("x32", passed_the_filter(0x40000000 + 39, 0))

print("done")
"""

KEY = secrets.randbelow(1 << 30) + 1  # of what two processes share: other runs beside this one have theirs

LEAVE = r"""
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
number = libc.shmget(KEY, 4096, 0o1666)
if number >= 0:
    libc.shmat.restype = ctypes.c_void_p
    ctypes.memmove(libc.shmat(number, None, 0), b"left", 4)
print("shm", number >= 0, "queue", libc.msgget(KEY, 0o1666) >= 0, "sem", libc.semget(KEY, 1, 0o1666) >= 0)
""".replace("KEY", str(KEY))

FIND = r"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
found = [libc.shmget(KEY, 0, 0), libc.msgget(KEY, 0), libc.semget(KEY, 0, 0)]
print("found" if max(found) >= 0 else "nothing")
""".replace("KEY", str(KEY))

TRACED = r"""
import ctypes, os, signal
ctypes.CDLL(None).ptrace(0, 0, 0, 0)
os.kill(os.getpid(), signal.SIGUSR1)
print("went on")
"""
