"""The configuration, `evalward.yml`: what it may say, how it is read, and what is told when it is wrong."""

from evalward.config.load import LoadedConfig, load_config, parse_config
from evalward.config.model import KNOWN_TARGETS, BashSuite, Config, Profile, Suite, config_schema
from evalward.config.providers import PROVIDERS, Effort, ModelPrice, ModelSettings, Provider, Providers

__all__ = [
    "KNOWN_TARGETS",
    "PROVIDERS",
    "BashSuite",
    "Config",
    "Effort",
    "LoadedConfig",
    "ModelPrice",
    "ModelSettings",
    "Profile",
    "Provider",
    "Providers",
    "Suite",
    "config_schema",
    "load_config",
    "parse_config",
]
