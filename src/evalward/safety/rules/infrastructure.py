"""Infrastructure as code."""

from __future__ import annotations

from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, table

_STATE = "changes what the tool knows of the infrastructure"
table(
    "terraform tofu terragrunt",
    "chdir: var: var-file: target: out: state: lock: parallelism: auto-approve destroy force",
    [
        Subcommand("plan|validate|fmt|show|output|providers|graph|init|version|get|console|test|login", SAFE, "", ""),
        Subcommand("destroy", HIGH, "cloud.destroy", "destroys infrastructure"),
        Subcommand("run-all|run destroy", HIGH, "cloud.destroy", "destroys infrastructure"),
        Subcommand("apply", HIGH, "cloud.destroy", "destroys infrastructure", needs="destroy"),
        Subcommand("apply", HIGH, "cloud.apply", "changes infrastructure without asking", needs="auto-approve"),
        Subcommand("state rm|mv|push|replace-provider", HIGH, "cloud.state", _STATE),
        Subcommand("workspace delete", HIGH, "cloud.state", _STATE),
        Subcommand("force-unlock", HIGH, "cloud.state", _STATE),
        Subcommand("state|workspace list|show|pull|select", SAFE, "", ""),
        Subcommand("*", MODERATE, "cloud.apply", "changes infrastructure after asking"),
    ],
)
table(
    "pulumi",
    "s/stack: C/cwd: y/yes f/skip-preview preview-only",
    [
        Subcommand("*", SAFE, "", "", needs="preview-only"),
        Subcommand("destroy|down|dn|cancel", HIGH, "cloud.destroy", "destroys infrastructure"),
        Subcommand("stack rm", HIGH, "cloud.destroy", "destroys infrastructure"),
        Subcommand("state delete", HIGH, "cloud.state", _STATE),
        Subcommand("up|update", HIGH, "cloud.apply", "changes infrastructure without asking", needs="y f"),
        Subcommand("up|update|refresh|import", MODERATE, "cloud.apply", "changes infrastructure after asking"),
    ],
)
table(
    "cdk sam serverless sls copilot amplify cdktf",
    "",
    [
        Subcommand("destroy|delete|remove|teardown", HIGH, "cloud.destroy", "destroys infrastructure"),
        Subcommand("app|svc|env|job delete", HIGH, "cloud.destroy", "destroys infrastructure"),
        Subcommand("deploy", MODERATE, "cloud.apply", "changes infrastructure"),
    ],
)
table(
    "ansible-playbook",
    "i: l: e: t:",
    [
        Subcommand("", SAFE, "", "", needs="C check syntax-check list-hosts list-tasks"),
        Subcommand("", MODERATE, "cloud.change", "changes machines"),
    ],
)
table(
    "aws-nuke cloud-nuke",
    "c/config: region: no-dry-run dry-run",
    [
        Subcommand("", SAFE, "", "", needs="dry-run"),
        Subcommand("defaults|version|list|resource-types|explain-*", SAFE, "", ""),
        Subcommand("", HIGH, "cloud.destroy", "deletes everything in an account", needs="no-dry-run force"),
        Subcommand("aws|azure|gcp", HIGH, "cloud.destroy", "deletes everything in an account"),
        Subcommand("", MODERATE, "cloud.destroy", "lists what would be deleted"),
    ],
)
table(
    "packer",
    "force on-error: only: except: var: var-file:",
    [Subcommand("build", HIGH, "cloud.delete", "deletes the images of earlier builds", needs="force")],
)
table("azd", "e: environment:", [Subcommand("down", HIGH, "cloud.destroy", "destroys infrastructure")])
table("railway", "s: e: y", [Subcommand("down", HIGH, "cloud.delete", "takes a service away")])
table(
    "eb zappa chalice",
    "",
    [Subcommand("terminate|undeploy|delete", HIGH, "cloud.destroy", "destroys infrastructure")],
)
