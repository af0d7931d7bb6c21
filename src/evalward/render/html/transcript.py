"""A trial's transcript for the page: turn by turn, long texts as passages, numbers in words. Not yet escaped."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from evalward.records.base import digest_text
from evalward.records.sections import Facts, FileText, SamplePlot
from evalward.records.trace import Usage
from evalward.render.conversation import Called, Said, Step, TrialView, TurnEnd, Voice
from evalward.render.html.passages import PACKABLE, Passage, Passages, TextLimits
from evalward.render.names import spoken
from evalward.render.numbers import NOT_AVAILABLE, format_number, plural

MOST_STEPS = 400  # of a trial: what is said, called and ended
VOICES: Mapping[Voice, str] = {
    "system": "System prompt",
    "tool": "Tool description",
    "user": "User",
    "assistant": "Model",
    "thinking": "Thinking",
}
NOWHERE: Mapping[Said, str] = MappingProxyType({})


class SaidBlock(Struct, frozen=True):
    """Words in the page: whose, and which. `link` is the fragment of a text that stands elsewhere in the page."""

    who: str
    voice: Voice
    words: Passage
    link: str = ""
    kind: str = "said"


class CallBlock(Struct, frozen=True):
    """A tool call in the page: `facts` are exit code and time, `outputs` what came back, by name."""

    tool: str
    command: Passage
    facts: list[str]
    failed: bool
    outputs: list[tuple[str, Passage]]
    kind: str = "call"


class GapBlock(Struct, frozen=True):
    """Steps that are left out."""

    steps: int
    kind: str = "gap"


Block = SaidBlock | CallBlock | GapBlock


class TurnBlock(Struct, frozen=True):
    """One round trip: what was said and called in it; `facts` are its tokens, cost and time."""

    title: str
    facts: list[str]
    blocks: list[Block]


class FileBlock(Struct, frozen=True):
    """A file that a trial left or began with; without `content` it is no text."""

    name: str
    content: Passage | None
    cut: int


class Transcript(Struct, frozen=True):
    """What the page shows of a trial when it is opened. `texts` are those to be packed, `left_out` is in characters."""

    turns: list[TurnBlock]
    facts: list[Facts]
    files: list[FileBlock]
    plots: list[SamplePlot]
    texts: list[str]
    left_out: int


def transcript_of(view: TrialView, limits: TextLimits, elsewhere: Mapping[Said, str] = NOWHERE) -> Transcript:
    """The transcript, each text and all of them together within the limits.

    `elsewhere` are the texts that stand in the page once, for all trials, with their fragments.
    """
    files = [part for part in view.sections if isinstance(part, FileText)]
    own = [*_texts(view.steps, elsewhere), *(file.text or "" for file in files)]
    lengths = [len(text) for text in own]
    passages = Passages(_text_limit(lengths, limits), pack=sum(lengths) > PACKABLE)
    return Transcript(
        turns=list(_turns(_steps(view.steps), _Blocks(passages, elsewhere))),
        facts=[part for part in view.sections if isinstance(part, Facts)],
        files=[FileBlock(f.name, None if f.text is None else passages.of(f.text), f.cut) for f in files],
        plots=[part for part in view.sections if isinstance(part, SamplePlot)],
        texts=passages.texts,
        left_out=passages.left_out,
    )


def text_anchor(said: Said) -> str:
    """The fragment of a text that stands in the page once."""
    return f"text-{said.voice}-{digest_text(said.text).removeprefix('sha256:')[:12]}"


def usage_facts(usage: Usage) -> list[str]:
    """Tokens and cost: what nobody told is not said, and an unknown cost is not available."""
    read, written = usage.total_input_tokens, usage.output_tokens
    facts = [] if read is None else [f"{read:,} tokens in"]
    if usage.cache_read_tokens:
        facts.append(f"{usage.cache_read_tokens:,} of them cached")
    if written is not None:
        facts.append(f"{written:,} out")
    if usage.reasoning_tokens:
        facts.append(f"{usage.reasoning_tokens:,} of them reasoning")
    if usage.cost_usd is not None:
        facts.append(format_number(usage.cost_usd, "usd"))
    elif facts:
        facts.append(f"cost {NOT_AVAILABLE}")
    return facts


def _texts(steps: Sequence[Step], elsewhere: Mapping[Said, str]) -> Iterator[str]:
    """The texts of steps, without those that stand elsewhere."""
    for step in steps:
        if isinstance(step, Said):
            yield "" if step in elsewhere else step.text
        elif isinstance(step, Called):
            yield from (step.command, step.stdout, step.stderr, step.answer)


def _text_limit(lengths: Sequence[int], limits: TextLimits) -> int:
    """The most characters of one text under which all together keep to the limit."""
    limit = limits.text
    while limit > 1 and sum(min(length, limit) for length in lengths) > limits.trial:
        limit //= 2
    return limit


def _steps(steps: Sequence[Step]) -> list[Step | GapBlock]:
    """The first and the last steps, and between them how many are left out."""
    if len(steps) <= MOST_STEPS:
        return list(steps)
    half = MOST_STEPS // 2
    return [*steps[:half], GapBlock(len(steps) - 2 * half), *steps[-half:]]


_Open = Said | Called | GapBlock


class _Blocks(Struct, frozen=True):
    """Makes blocks of steps."""

    passages: Passages
    elsewhere: Mapping[Said, str]

    def of(self, step: _Open) -> Block:
        match step:
            case Said():
                link = self.elsewhere.get(step, "")
                words = Passage("", len(step.text)) if link else self.passages.of(step.text)
                return SaidBlock(VOICES[step.voice], step.voice, words, link)
            case Called():
                return self._call(step)
            case GapBlock():
                return step

    def _call(self, step: Called) -> CallBlock:
        outputs = [("stdout", step.stdout), ("stderr", step.stderr), ("what the model read", step.answer)]
        return CallBlock(
            tool=step.tool,
            command=self.passages.of(step.command),
            facts=list(_call_facts(step)),
            failed=not step.ran or bool(step.exit_code),
            outputs=[(name, self.passages.of(text)) for name, text in outputs if text],
        )


def _turns(steps: Sequence[Step | GapBlock], make: _Blocks) -> Iterator[TurnBlock]:
    """The steps up to the end of each turn; what was asked before the first turn has a block of its own."""
    asked, rest = _asked(steps)
    if asked:
        yield TurnBlock("Asked", [], [make.of(step) for step in asked])
    blocks: list[Block] = []
    for step in rest:
        if isinstance(step, TurnEnd):
            yield TurnBlock(f"Turn {step.number}", _turn_facts(step), blocks)
            blocks = []
        else:
            blocks.append(make.of(step))
    if blocks:
        yield TurnBlock("After the last turn" if len(blocks) < len(rest) else "Conversation", [], blocks)


def _asked(steps: Sequence[Step | GapBlock]) -> tuple[list[Said], list[Step | GapBlock]]:
    """What the model was given first, and all that follows."""
    asked: list[Said] = []
    for step in steps:
        if not isinstance(step, Said) or step.voice in {"assistant", "thinking"}:
            break
        asked.append(step)
    return asked, list(steps[len(asked) :])


def _call_facts(step: Called) -> Iterator[str]:
    if not step.ran:
        yield "not run"
    if step.ran or step.exit_code is not None:
        yield "exit code unknown" if step.exit_code is None else f"exit {step.exit_code}"
    if step.duration_ms is not None:
        yield format_number(step.duration_ms, "ms")
    if step.cut:
        yield f"{plural(step.cut, 'character')} of its output not kept"
    if not (step.stdout or step.stderr or step.answer):
        yield "no output"


def _turn_facts(end: TurnEnd) -> list[str]:
    model = [end.model] if end.model else []
    stop = [] if end.stop in {"end", "tool_use"} else [f"stopped: {spoken(end.stop)}"]
    return [*usage_facts(end.usage), *([format_number(end.wall_ms, "ms")] if end.wall_ms else []), *stop, *model]
