"""The configuration, `evalward.yml`: what it may say, how it is read, and what is told when it is wrong.

Reading one is `config.load`, which costs a parser of YAML and is not for a process with keys.
"""

from evalward.config.agents import AgentProgram
from evalward.config.judge import DEFAULT_CACHE, JUDGE_FORMS, RECORDED, JudgeConfig
from evalward.config.loaded import LoadedConfig
from evalward.config.model import (
    PROMPT_MARK,
    BashSuite,
    CommandSuite,
    Config,
    Match,
    Profile,
    Program,
    Suite,
    config_schema,
)
from evalward.config.providers import Effort, ModelPrice, ModelSettings, Provider, Providers
from evalward.config.scenario import ScenarioSuite
from evalward.config.speedup import SpeedupSuite
from evalward.config.targets import KNOWN_TARGETS, SCENARIO_TARGETS

__all__ = [
    "DEFAULT_CACHE",
    "JUDGE_FORMS",
    "KNOWN_TARGETS",
    "PROMPT_MARK",
    "RECORDED",
    "SCENARIO_TARGETS",
    "AgentProgram",
    "BashSuite",
    "CommandSuite",
    "Config",
    "Effort",
    "JudgeConfig",
    "LoadedConfig",
    "Match",
    "ModelPrice",
    "ModelSettings",
    "Profile",
    "Program",
    "Provider",
    "Providers",
    "ScenarioSuite",
    "SpeedupSuite",
    "Suite",
    "config_schema",
]
