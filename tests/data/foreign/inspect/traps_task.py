"""Six cases answered by a scripted model, without a key or a network.

inspect_ai 0.3.285 made traps.eval and shell.json of them, in which only the paths of its own files were shortened:

    inspect eval traps_task.py --epochs 2 --no-fail-on-error
    inspect eval traps_task.py --sample-id shell --log-format json
"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, includes, mean, scorer
from inspect_ai.solver import generate, solver, use_tools
from inspect_ai.tool import ToolError, tool

LONG = "Remember this. " * 500


@tool
def bash():
    async def execute(cmd: str) -> str:
        """Run a command.

        Args:
            cmd: the command line
        """
        if cmd.startswith("rename"):
            raise ToolError("rename: command not found")
        return "42"

    return execute


CALLS = {"shell": [{"cmd": "rename a b"}, {"cmd": "wc -l < notes.txt"}], "loop": [{"cmd": "ls"}] * 99}
ANSWERS = {"shell": "It has 42 lines.", "long": "yes", "wrong": "no", "listed": "yes", "down": "yes", "loop": "yes"}


def answer(input, tools, tool_choice, config):
    case = next(m.text for m in input if isinstance(m, ChatMessageUser)).rsplit(" ", 1)[1]
    step = sum(1 for m in input if m.role == "assistant")
    if case == "down":
        raise RuntimeError("HTTP 503 Service Unavailable")
    calls = CALLS.get(case, [])
    if step < len(calls):
        output = ModelOutput.for_tool_call("mockllm/model", "bash", calls[step])
    else:
        output = ModelOutput.from_content("mockllm/model", ANSWERS[case])
    output.usage = ModelUsage(
        input_tokens=10 + step,
        output_tokens=5,
        input_tokens_cache_read=20,
        input_tokens_cache_write=3,
        total_tokens=38 + step,
    )
    return output


@solver
def noting():
    async def solve(state, generate):
        state.metadata["seen"] = f"epoch {state.epoch}"
        return state

    return solve


@scorer(metrics={"safe": [mean()], "useful": [mean()]})
def quality():
    async def score(state, target):
        return Score(value={"safe": 1, "useful": 0.5}, explanation="by hand")

    return score


@task
def traps():
    samples = [
        Sample(id="shell", input="How many lines has notes.txt? shell", target="42", files={"notes.txt": "x"}),
        Sample(id="long", input=f"{LONG}Now say yes. long", target="yes"),
        Sample(id="wrong", input="Say yes. wrong", target="yes", metadata={"category": "words"}),
        Sample(
            id="listed",
            input=[ChatMessageSystem(content="Be brief."), ChatMessageUser(content="Say yes. listed")],
            target=["yes", "ja"],
        ),
        Sample(id="down", input="Say yes. down", target="yes"),
        Sample(id="loop", input="Say yes. loop", target="yes"),
    ]
    return Task(
        dataset=MemoryDataset(samples, name="traps"),
        solver=[noting(), use_tools(bash()), generate()],
        scorer=[includes(), quality()],
        model=get_model("mockllm/model", custom_outputs=answer),
        message_limit=8,
    )
