"""Models that run here: Anthropic Messages, OpenAI Chat Completions and Responses, strict, scripted, and faulty."""

from support.model_server.api import MODELS, Asked
from support.model_server.batches import BatchRules
from support.model_server.faults import FAULTS, Fault
from support.model_server.process import Remote, dump_settings, load_settings, spawned
from support.model_server.prompt_cache import CacheRules, PromptCache
from support.model_server.script import DONE, Answer, Call, Conversation, Script, Tokens, bash, oracle_like
from support.model_server.server import KEY, Logged, ModelServer, Settings

__all__ = [
    "DONE",
    "FAULTS",
    "KEY",
    "MODELS",
    "Answer",
    "Asked",
    "BatchRules",
    "CacheRules",
    "Call",
    "Conversation",
    "Fault",
    "Logged",
    "ModelServer",
    "PromptCache",
    "Remote",
    "Script",
    "Settings",
    "Tokens",
    "bash",
    "dump_settings",
    "load_settings",
    "oracle_like",
    "spawned",
]
