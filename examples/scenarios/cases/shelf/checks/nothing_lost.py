#!/usr/bin/env -S python3 -IS
"""A script gate: the things that nobody asked to touch are still there. It says what is missing, as JSON."""

import json
import subprocess
import sys

WANTED = {"tent": 1, "rope": 2}

found = subprocess.run(["./shelf", "export", "--json"], capture_output=True, text=True, check=False)
if found.returncode:
    print(json.dumps({"passed": False, "message": f"the store can't be read: {found.stderr.strip()}"}))
    sys.exit(0)
counts = {item["name"]: item["count"] for item in json.loads(found.stdout)["items"]}
lost = [f"{name} ({counts.get(name, 0)} of {count})" for name, count in WANTED.items() if counts.get(name) != count]
print(json.dumps({"passed": not lost, "message": f"lost: {', '.join(lost)}" if lost else "tent and rope are there"}))
