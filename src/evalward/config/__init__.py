"""The configuration, `evalward.yml`: what it may say, how it is read, and what is told when it is wrong."""

from evalward.config.load import LoadedConfig, load_config, parse_config
from evalward.config.model import (
    KNOWN_TARGETS,
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
from evalward.config.providers import PROVIDERS, Effort, ModelPrice, ModelSettings, Provider, Providers
from evalward.config.speedup import SpeedupSuite

__all__ = [
    "KNOWN_TARGETS",
    "PROMPT_MARK",
    "PROVIDERS",
    "BashSuite",
    "CommandSuite",
    "Config",
    "Effort",
    "LoadedConfig",
    "Match",
    "ModelPrice",
    "ModelSettings",
    "Profile",
    "Program",
    "Provider",
    "Providers",
    "SpeedupSuite",
    "Suite",
    "config_schema",
    "load_config",
    "parse_config",
]
