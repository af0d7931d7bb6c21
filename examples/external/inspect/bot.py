"""A support bot's evaluation with inspect. In place of a model that costs money, a scripted one follows the prompt."""

import re
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, system_message

PROMPT = Path(__file__).with_name("prompt.md").read_text("utf-8")
ANSWERS = {
    "Can I return a lamp that I don't like?": "Yes, within 30 days, and we pay the postage.",
    "When does my order arrive?": "A parcel takes three to five working days.",
    "Where do I find my invoice?": "It is under Account, Orders, beside the order.",
    "I forgot my password.": "Ask for a reset link on the page where you sign in.",
    "Can I still cancel my order?": "Yes, until it is packed: under Account, Orders.",
    "The lamp broke after a year. What now?": "The warranty lasts 2 years: we send you a new one.",
}
SAMPLES = [
    Sample(id="return", input="Can I return a lamp that I don't like?", target="30 days"),
    Sample(id="delivery", input="When does my order arrive?", target="working days"),
    Sample(id="invoice", input="Where do I find my invoice?", target="Orders"),
    Sample(id="password", input="I forgot my password.", target="reset link"),
    Sample(id="cancel", input="Can I still cancel my order?", target="until it is packed"),
    Sample(id="warranty", input="The lamp broke after a year. What now?", target="2 years"),
]


def scripted(messages, tools, tool_choice, config):
    """What the model answers: a number only where the prompt asks for numbers."""
    answer = ANSWERS[messages[-1].text]
    if "every number" not in messages[0].text:
        answer = re.sub(r"\d+ ", "some ", answer)
    output = ModelOutput.from_content("mockllm/model", answer)
    output.usage = ModelUsage(input_tokens=60, output_tokens=len(answer) // 4, total_tokens=60 + len(answer) // 4)
    return output


@task
def support_bot():
    """For real: leave `model` out here, and name one with --model."""
    return Task(
        dataset=SAMPLES,
        solver=[system_message(PROMPT), generate()],
        scorer=includes(),
        model=get_model("mockllm/model", custom_outputs=scripted),
    )
