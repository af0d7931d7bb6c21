"""Job folders as harbor 0.25 writes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Files = dict[str, object]
"""JSON values by their files' names."""

CHECKSUM = "0f" * 32


def timing(begun: str, ended: str) -> dict[str, str]:
    """The beginning and the end of a phase, on 2026-11-22."""
    return {"started_at": f"2026-11-22T{begun}Z", "finished_at": f"2026-11-22T{ended}Z"}


def trial(name: str, *, task: str = "count-lines", began: str = "04:08:05.5", **changed: Any) -> dict[str, Any]:
    """A trial's `result.json`: passed, where `changed` says nothing else."""
    return {
        "id": "62a44c22-1dc3-4215-a71e-230a77b0afa9",
        "task_name": task,
        "trial_name": name,
        "trial_uri": f"file:///home/runner/jobs/nightly/{name}",
        "task_id": {"path": f"tasks/{task}"},
        "source": "tasks",
        "task_checksum": CHECKSUM,
        "config": {"task": {"path": f"tasks/{task}", "git_url": None}, "trial_name": name, "trials_dir": "jobs"},
        "agent_info": {
            "name": "terminus-2",
            "version": "2.1.0",
            "model_info": {"name": "claude-haiku-4-5", "provider": "anthropic"},
        },
        "agent_result": {
            "n_input_tokens": 150,
            "n_cache_tokens": 50,
            "n_output_tokens": 20,
            "cost_usd": 0.0002,
            "model_usage": None,
            "rollout_details": None,
            "metadata": None,
        },
        "verifier_result": {"rewards": {"reward": 1.0}},
        "verifier_environment_mode": "shared",
        "exception_info": None,
        **timing(began, "04:09:01"),
        "environment_setup": timing("04:08:05.6", "04:08:20"),
        "agent_setup": timing("04:08:20", "04:08:21"),
        "agent_execution": timing("04:08:21", "04:08:22.25"),
        "verifier": timing("04:08:23", "04:08:24"),
        "step_results": None,
        **changed,
    }


def raised(kind: str, rewards: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What an exception changes in a trial; a verifier that ran nevertheless has left rewards."""
    return {
        "exception_info": {
            "exception_type": kind,
            "exception_message": f"what {kind} said",
            "exception_traceback": 'Traceback (most recent call last):\n  File "/home/runner/agent.py", line 1\n',
            "occurred_at": "2026-11-22T04:08:22",
        },
        "verifier_result": None if rewards is None else {"rewards": dict(rewards)},
    }


def not_started() -> dict[str, Any]:
    """What an environment that did not start changes in a trial."""
    return {**raised("RuntimeError"), "agent_result": None, "agent_execution": None, "verifier": None}


def job(planned: int, *, finished: bool = True, retries: int = 0, cancelled: int = 0) -> dict[str, Any]:
    """A job's `result.json`: its times have no zone, and those of its counts that matter to nobody are left out."""
    return {
        "id": "b5e2cec0-3dae-4e32-86e3-c9dc7013c3ba",
        "started_at": "2026-11-22T04:08:05.1",
        "updated_at": "2026-11-22T04:09:01.1",
        "finished_at": "2026-11-22T04:09:01.2" if finished else None,
        "n_total_trials": planned,
        "stats": {
            "n_completed_trials": planned,
            "n_errored_trials": 0,
            "n_running_trials": 0,
            "n_pending_trials": 0,
            "n_cancelled_trials": cancelled,
            "n_retries": retries,
            "evals": {"terminus-2__anthropic/claude-haiku-4-5__tasks": {"n_trials": planned, "n_errors": 0}},
            "n_input_tokens": 150,
            "n_cache_tokens": 50,
            "n_output_tokens": 20,
            "cost_usd": 0.0002,
        },
    }


def lock() -> dict[str, Any]:
    """`lock.json`, shortened: its trials are plans."""
    return {
        "schema_version": 3,
        "created_at": "2026-11-22T04:08:05.2Z",
        "harbor": {"version": "0.25.0", "is_editable": False},
        "n_concurrent_trials": 4,
        "retry": {"max_retries": 0, "exclude_exceptions": []},
        "trials": [{"schema_version": 2, "task": {"name": "count-lines", "type": "local"}}],
    }


def config() -> dict[str, Any]:
    """`config.json` of a job."""
    return {"job_name": "nightly", "quiet": True, "agents": [{"name": "terminus-2"}], "datasets": [{"path": "tasks"}]}


def job_folder(trials: Mapping[str, Mapping[str, Any]], folder: str = "jobs/nightly", **counted: Any) -> Files:
    """All files of a job whose trials, by their folders' names, differ from a passed one in what is given."""
    results = {f"{folder}/{name}/result.json": trial(name, **changed) for name, changed in trials.items()}
    settings = {
        f"{folder}/{name}/config.json": {"trial_name": name, "trials_dir": folder, "agent": {}} for name in trials
    }
    return {
        f"{folder}/result.json": job(counted.pop("planned", len(trials)), **counted),
        f"{folder}/config.json": config(),
        f"{folder}/lock.json": lock(),
        **results,
        **settings,
    }


def trajectory() -> dict[str, Any]:
    """A trajectory of three steps: what was asked, one command with its output, the answer."""
    return {
        "schema_version": "ATIF-v1.5",
        "session_id": "3f0c",
        "agent": {"name": "terminus-2", "version": "2.1.0", "model_name": "claude-haiku-4-5"},
        "steps": [
            {
                "step_id": 1,
                "timestamp": "2026-11-22T04:08:21Z",
                "source": "user",
                "message": "Count the lines of a.txt.",
            },
            {
                "step_id": 2,
                "timestamp": "2026-11-22T04:08:21.5Z",
                "source": "agent",
                "model_name": "claude-haiku-4-5",
                "message": "I count.",
                "reasoning_content": "wc does it",
                "tool_calls": [
                    {"tool_call_id": "call_1", "function_name": "bash_command", "arguments": {"command": "wc -l a.txt"}}
                ],
                "observation": {"results": [{"source_call_id": "call_1", "content": "3 a.txt\n"}]},
                "metrics": {"prompt_tokens": 100, "completion_tokens": 15, "cached_tokens": 50, "cost_usd": 0.00015},
            },
            {"step_id": 3, "source": "agent", "message": [{"type": "text", "text": "Three lines."}]},
        ],
        "final_metrics": {"total_prompt_tokens": 150, "total_completion_tokens": 20, "total_steps": 3},
    }
