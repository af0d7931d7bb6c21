"""What each command's `--help` ends with: commands that can be typed as they stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

EXAMPLES: Mapping[str, Sequence[str]] = MappingProxyType(
    {
        "": ("evalward demo", "evalward init", "evalward check", "evalward show", "evalward help baseline update"),
        "demo": ("evalward demo", "evalward demo --output /tmp/evalward-demo"),
        "init": ("evalward init", "evalward init --yes"),
        "doctor": ("evalward doctor", "evalward doctor --network", "evalward doctor --format json"),
        "run": (
            "evalward run",
            "evalward run --plan",
            "evalward run --suite bash-tools --trials 3",
            "evalward run --changed-since main",
            "evalward run --shard 2/4",
            "evalward run --on ray",
        ),
        "check": (
            "evalward check",
            "evalward check --suite bash-tools,commands --trials 5",
            "evalward check --failed",
            "evalward check --changed-since main",
            "evalward check --plan",
            "evalward check --quiet",
            "evalward check --parts part-1 part-2",
        ),
        "compare": (
            "evalward compare",
            "evalward compare --report new/report.json --baseline old/baseline.json",
            "evalward compare --format markdown --output comment.md",
        ),
        "report": (
            "evalward report evalward-out",
            "evalward report haiku/report.json gpt/report.json",
            "evalward report evalward-out --format html --output report.html",
        ),
        "show": (
            "evalward show",
            "evalward show archive_backup --target 'anthropic/*'",
            "evalward show archive_backup --baseline",
        ),
        "view": ("evalward view",),
        "import": (
            "evalward import auto results.json --output report.json",
            "evalward import promptfoo out.json --score accuracy=0.8 --output report.json",
        ),
        "merge": ("evalward merge part-1 part-2 --output merged/report.json",),
        "export": ("evalward export caro evalward-out --output results.json",),
        "baseline": ("evalward baseline update", "evalward baseline diff"),
        "baseline update": (
            "evalward baseline update",
            'evalward baseline update --accept "the new model is cheaper"',
            "evalward baseline update --dry-run",
        ),
        "baseline show": ("evalward baseline show",),
        "baseline diff": (
            "evalward baseline diff",
            "evalward baseline diff main",
            "evalward baseline diff v1.2 HEAD",
            "evalward baseline diff old.json ./new.json",
        ),
        "baseline commit": ("evalward baseline commit --report evalward-out --to pull-request",),
        "history": ("evalward history append", "evalward history show"),
        "history append": ("evalward history append --judgement evalward-out/judgement.json",),
        "history show": ("evalward history show --suite bash-tools --metric pass_rate",),
        "history page": ("evalward history page --output site",),
        "guidance": (
            "evalward guidance",
            "evalward guidance --against HEAD~1",
            "evalward guidance before/report.json after/report.json",
        ),
        "validate": (
            "evalward validate",
            "evalward validate --config ci/evalward.yml --no-prove",
            "evalward validate evals/tasks.yaml .evalward/baseline.json",
            "evalward validate --quiet",
        ),
        "schema": ("evalward schema", "evalward schema evalward --output evalward.schema.json"),
        "judge": ("evalward judge check rubric.yaml labelled.jsonl",),
        "judge check": ("evalward judge check rubric.yaml labelled.jsonl --votes 3",),
        "mcp": ("evalward mcp snapshot",),
        "mcp snapshot": (
            "evalward mcp snapshot",
            "evalward mcp snapshot tools --output evals/mcp/tools.json",
            "evalward mcp snapshot http://127.0.0.1:8000/mcp",
            "evalward mcp snapshot --output git.json -- mcp-server-git --repository .",
        ),
        "safety": ("evalward safety 'rm -rf /'", "evalward safety --level moderate < commands.txt"),
        "publish": ("evalward publish downloaded-artifact",),
        "accept": ("evalward accept --dry-run",),
        "release": ("evalward release --report evalward-out", "evalward release --report evalward-out --tag v1.2.0"),
        "action": ("evalward action",),
        "help": ("evalward help", "evalward help baseline update"),
        "completion": (
            "source <(evalward completion bash)",
            "evalward completion zsh > ~/.zfunc/_evalward",
            "evalward completion fish > ~/.config/fish/completions/evalward.fish",
        ),
    }
)
