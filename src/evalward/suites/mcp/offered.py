"""What the models of a suite are offered: system prompt and tools, and how their calls are read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from evalward.records.providers import PROVIDERS
from evalward.records.trace import Block, Message, ToolUse
from evalward.records.words import shown
from evalward.suites.mcp.case import McpCase
from evalward.suites.mcp.catalogue import Catalogue
from evalward.suites.mcp.names import ToolNames
from evalward.suites.mcp.provider_rules import Offer, ProviderRules, offer, rules_of

SYSTEM_PROMPT = (
    "You are an assistant. Use the tools that you have where the request needs them, and answer in words where it "
    "doesn't."
)
_INSTRUCTIONS = "Instructions of the server {server}:\n{text}"


@dataclass(frozen=True)
class OfferedTools:
    """The tools of a suite's server and of those beside it. Each maker's models get what these take."""

    own: Catalogue
    others: tuple[Catalogue, ...]
    names: ToolNames
    _offers: dict[ProviderRules | None, Offer] = field(default_factory=dict, repr=False, compare=False)

    def to(self, target: str) -> Offer:
        """What a target is offered."""
        rules = rules_of(target)
        if rules not in self._offers:
            self._offers[rules] = offer(self.names.tools, rules)
        return self._offers[rules]

    def left_out(self, targets: Sequence[str]) -> Iterator[str]:
        """The tools that some of the targets are not offered, and why."""
        for rules in dict.fromkeys(map(rules_of, targets)):
            if rules is not None:
                first = next(target for target in targets if rules_of(target) == rules)
                for each in self.to(first).left_out:
                    yield f"{each.named.shown} is left out for models of {each.maker}: {each.why}"

    def lacking(self, case: McpCase, target: str) -> str | None:
        """Why a case can't be done by a target: it expects a call of a tool that the target is not offered."""
        offered = self.to(target)
        for call in case.expect.calls:
            refused = offered.lacks(call.tool)
            if refused is not None:
                return f"models of {refused.maker} can't be offered the tool {shown(call.tool)}: {refused.why}"
        return None

    def as_shown(self, message: Message, target: str = "") -> Message:
        """A target's message with the tools' and arguments' own names, as traces and reports have them."""
        offered = self.to(target)
        return message.model_copy(update={"content": [self._shown(block, offered) for block in message.content]})

    def _shown(self, block: Block, offered: Offer) -> Block:
        if not isinstance(block, ToolUse):
            return block
        arguments = offered.own_keys(block.name, block.input)
        return block.model_copy(update={"name": self.names.shown(block.name), "input": arguments})


def told_system(system: str, catalogues: Sequence[Catalogue]) -> str:
    """The system prompt with the instructions of the servers that have some, as hosts hand them on."""
    instructions = [
        _INSTRUCTIONS.format(server=each.server, text=each.instructions) for each in catalogues if each.instructions
    ]
    return "\n\n".join([system, *instructions])


def refused_tools(own: Catalogue) -> list[str]:
    """The server's tools that a maker's models are not offered, and why."""
    targets = [f"{name}/model" for name in PROVIDERS]
    return list(dict.fromkeys(OfferedTools(own, (), ToolNames(own)).left_out(targets)))
