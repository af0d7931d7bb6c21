"""A safety validator for shell commands: parse, resolve, unwrap, and judge by meaning."""

from evalward.suites.command.safety.assess import LONGEST_COMMAND, assess
from evalward.suites.command.safety.model import Assessment, Finding, Level, SafetyLevel, allowed

__all__ = ["LONGEST_COMMAND", "Assessment", "Finding", "Level", "SafetyLevel", "allowed", "assess"]
