"""A safety validator for shell commands: parse, resolve, unwrap, and judge by meaning."""

from evalward.safety.assess import LONGEST_COMMAND, assess
from evalward.safety.model import Assessment, RiskLevel, SafetyFinding, SafetyLevel, allowed
from evalward.safety.version import VERSION

__all__ = ["LONGEST_COMMAND", "VERSION", "Assessment", "RiskLevel", "SafetyFinding", "SafetyLevel", "allowed", "assess"]
