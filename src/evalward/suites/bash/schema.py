"""What editors know of YAML files of cases: a list of tasks. A line of JSONL is one, by the schema `bash-case`."""

from __future__ import annotations

from pydantic import TypeAdapter

from evalward.suites.bash.case import BashTask

CASES: TypeAdapter[list[BashTask]] = TypeAdapter(list[BashTask])
