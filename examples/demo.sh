#!/bin/sh
# `make demo`: a pull request against a committed baseline. No key, no network service; the demo itself always succeeds.
cd "$(dirname "$0")/.." || exit 1
suite=examples/bash-tools
out=evalward-out/demo
rm -rf "$out"

cat <<'TEXT'
37 tasks for an agent with a bash tool, and a baseline that was committed with them. In this "pull request" the agent was
told to prefer Python, which its sandbox doesn't have. Its messages are a hand-written recording; every command in them is
run again, now, in a virtual interpreter. The reference solutions run beside it, as a check of the tasks themselves.

$ evalward check --config examples/bash-tools/pull-request.yml

TEXT

evalward check --config "$suite/pull-request.yml" --output "$out"
code=$?

cat <<TEXT

The gate's exit code is $code: the check of this pull request would be $([ "$code" = 0 ] && echo green || echo red).
  $out/comment.md     what it would say on the pull request
  $out/report.json    everything that was measured; $out/trials/ has every message and command
TEXT

cat <<'TEXT'

Models are random. Below, three cases that passed before fail in the one trial that each has, and pass when they are tried
again (outcomes written by hand, no model was asked):
TEXT
python3 examples/decisions/show.py noise 2>&1 | sed -n '1,5p'

cat <<'TEXT'

Next: README.md has the workflow to paste. `evalward --help` lists the commands.
TEXT
[ "$code" = 1 ]
