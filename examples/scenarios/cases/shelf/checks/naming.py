#!/usr/bin/env -S python3 -IS
"""An evaluator: which share of the names follows the convention of AGENTS.md."""

import json
import subprocess

told = subprocess.run(["./shelf", "export", "--json"], capture_output=True, text=True, check=True).stdout
names = [item["name"] for item in json.loads(told)["items"]]
good = [name for name in names if name == name.lower() and not name.endswith("s")]
result = {"metrics": {"names": len(names), "good_names": len(good)}, "summary": f"{len(good)} of {len(names)} names"}
if names:
    result["score"] = len(good) / len(names)
print(json.dumps(result))
