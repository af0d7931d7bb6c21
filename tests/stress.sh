#!/bin/sh
# Runs tests again and again, each time in another order and with other examples, on a machine that is kept busy: what
# depends on time, load, order or chance shows itself. Stops at the first failure. Usage: stress.sh PYTEST RUNS PATH...
set -eu
pytest=$1 runs=$2
shift 2
busy=
trap 'kill $busy 2>/dev/null' EXIT
trap 'exit 130' INT TERM
for _ in 1 2; do
    sh -c 'while :; do :; done' &
    busy="$busy $!"
done
for run in $(seq "$runs"); do
    seed=$((run * 7919 + $(date +%s) % 7919))
    echo "run $run of $runs: --randomly-seed=$seed"
    "$pytest" -q -x -n auto --dist worksteal -m "not container and not agents and not browser and not ray" -p "no:cacheprovider" \
        --hypothesis-profile=search --randomly-seed="$seed" "$@"
done
