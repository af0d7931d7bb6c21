"""The configuration, `evalward.yml`: what it may say, how it is read, and what is told when it is wrong.

Reading one is `config.load`, which costs a parser of YAML and is not for a process with keys.
"""

from evalward.config.agents import AgentProgram
from evalward.config.harness import HarnessSuite
from evalward.config.judge import DEFAULT_CACHE, JUDGE_FORMS, RECORDED, JudgeConfig
from evalward.config.loaded import LoadedConfig
from evalward.config.model import PROMPT_MARK, Config, Profile, Program, config_schema
from evalward.config.providers import Effort, ModelPrice, ModelSettings, Provider, Providers
from evalward.config.suite import ComparedSuite, IsolatedSuite, SandboxedSuite, Suite
from evalward.config.targets import KNOWN_TARGETS, TargetForms

__all__ = [
    "DEFAULT_CACHE",
    "JUDGE_FORMS",
    "KNOWN_TARGETS",
    "PROMPT_MARK",
    "RECORDED",
    "AgentProgram",
    "ComparedSuite",
    "Config",
    "Effort",
    "HarnessSuite",
    "IsolatedSuite",
    "JudgeConfig",
    "LoadedConfig",
    "ModelPrice",
    "ModelSettings",
    "Profile",
    "Program",
    "Provider",
    "Providers",
    "SandboxedSuite",
    "Suite",
    "TargetForms",
    "config_schema",
]
