"""What zsh completes: a real one, at a terminal of its own, that presses Tab and writes down what it was offered."""

from __future__ import annotations

import os
import pty
import shutil
import threading
from pathlib import Path

from support.patience import wait_until

# `compadd` is what every completion ends in. With -O, -A or -D it only asks, with any other options it offers.
SETUP = """\
PS1='> '
cd {folder}
fpath=({folder} $fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' menu no
compadd() {{
  local -a offered
  if [[ " ${{(@)@[1,(i)(-|--)]}} " == *" -"(O|A|D)" "* ]]; then builtin compadd "$@"; return; fi
  builtin compadd -A offered "$@"
  (( $#offered )) && print -rl -- $offered >> {offers}
  builtin compadd "$@"
}}
_end_of_test() {{ BUFFER=''; print > {ended} }}
zle -N _end_of_test
bindkey '^X^E' _end_of_test
print > {ready}
"""
TAB, END = b"\t", b"\x18\x05"


def zsh_completes(folder: Path, script: str, line: str) -> list[str]:
    """What is offered after a line. `folder` gets the script, and is where the line is typed."""
    state = folder.with_name(f"{folder.name}-zsh")
    state.mkdir()
    (folder / "_evalward").write_text(script, "utf-8")
    offers, ready, ended = (state / name for name in ("offers", "ready", "ended"))
    setup = state / "setup.zsh"
    setup.write_text(SETUP.format(folder=folder, offers=offers, ready=ready, ended=ended), "utf-8")
    offers.touch()
    program = shutil.which("zsh")
    assert program is not None
    process, terminal = pty.fork()
    if process == 0:
        os.execve(program, ["zsh", "-f", "-i"], {"TERM": "dumb", "PATH": os.environ["PATH"], "HOME": str(state)})
    said: list[bytes] = []
    reader = threading.Thread(target=_drain, args=(terminal, said), daemon=True)
    reader.start()
    try:
        os.write(terminal, f"source {setup}\n".encode())
        wait_until(ready.exists)
        os.write(terminal, line.encode() + TAB + END)
        wait_until(ended.exists)
    except AssertionError as error:
        raise AssertionError(b"".join(said).decode(errors="replace")) from error
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)
        reader.join()
        os.close(terminal)
    return [word.strip() for word in offers.read_text("utf-8").splitlines() if word.strip()]


def _drain(terminal: int, said: list[bytes]) -> None:
    """Read what the shell prints, until it is gone: else it would wait for somebody who reads."""
    try:
        while block := os.read(terminal, 65_536):
            said.append(block)
    except OSError:
        return
