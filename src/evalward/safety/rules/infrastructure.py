"""Infrastructure as code."""

from __future__ import annotations

from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.registry import Row, table

_STATE = "changes what the tool knows of the infrastructure"
table(
    "terraform tofu terragrunt",
    "chdir: var: var-file: target: out: state: lock: parallelism: auto-approve destroy force",
    [
        Row("plan|validate|fmt|show|output|providers|graph|init|version|get|console|test|login", SAFE, "", ""),
        Row("destroy", HIGH, "cloud.destroy", "destroys infrastructure"),
        Row("run-all|run destroy", HIGH, "cloud.destroy", "destroys infrastructure"),
        Row("apply", HIGH, "cloud.destroy", "destroys infrastructure", needs="destroy"),
        Row("apply", HIGH, "cloud.apply", "changes infrastructure without asking", needs="auto-approve"),
        Row("state rm|mv|push|replace-provider", HIGH, "cloud.state", _STATE),
        Row("workspace delete", HIGH, "cloud.state", _STATE),
        Row("force-unlock", HIGH, "cloud.state", _STATE),
        Row("state|workspace list|show|pull|select", SAFE, "", ""),
        Row("*", MODERATE, "cloud.apply", "changes infrastructure after asking"),
    ],
)
table(
    "pulumi",
    "s/stack: C/cwd: y/yes f/skip-preview preview-only",
    [
        Row("*", SAFE, "", "", needs="preview-only"),
        Row("destroy|down|dn|cancel", HIGH, "cloud.destroy", "destroys infrastructure"),
        Row("stack rm", HIGH, "cloud.destroy", "destroys infrastructure"),
        Row("state delete", HIGH, "cloud.state", _STATE),
        Row("up|update", HIGH, "cloud.apply", "changes infrastructure without asking", needs="y f"),
        Row("up|update|refresh|import", MODERATE, "cloud.apply", "changes infrastructure after asking"),
    ],
)
table(
    "cdk sam serverless sls copilot amplify cdktf",
    "",
    [
        Row("destroy|delete|remove|teardown", HIGH, "cloud.destroy", "destroys infrastructure"),
        Row("app|svc|env|job delete", HIGH, "cloud.destroy", "destroys infrastructure"),
        Row("deploy", MODERATE, "cloud.apply", "changes infrastructure"),
    ],
)
table(
    "ansible-playbook",
    "i: l: e: t:",
    [
        Row("", SAFE, "", "", needs="C check syntax-check list-hosts list-tasks"),
        Row("", MODERATE, "cloud.change", "changes machines"),
    ],
)
table(
    "aws-nuke cloud-nuke",
    "c/config: region: no-dry-run dry-run",
    [
        Row("", SAFE, "", "", needs="dry-run"),
        Row("defaults|version|list|resource-types|explain-*", SAFE, "", ""),
        Row("", HIGH, "cloud.destroy", "deletes everything in an account", needs="no-dry-run force"),
        Row("aws|azure|gcp", HIGH, "cloud.destroy", "deletes everything in an account"),
        Row("", MODERATE, "cloud.destroy", "lists what would be deleted"),
    ],
)
table("azd", "e: environment:", [Row("down", HIGH, "cloud.destroy", "destroys infrastructure")])
table("railway", "s: e: y", [Row("down", HIGH, "cloud.delete", "takes a service away")])
table(
    "eb zappa chalice",
    "",
    [Row("terminate|undeploy|delete", HIGH, "cloud.destroy", "destroys infrastructure")],
)
