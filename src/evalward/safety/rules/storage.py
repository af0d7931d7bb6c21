"""Object storage, and other places where files lie far away: buckets, clusters of files."""

from __future__ import annotations

from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.registry import Subcommand, table

_DELETES = "deletes things in the cloud"
_OPENS = "opens a bucket to everybody"

table(
    "gsutil s3cmd mc s5cmd azcopy",
    "h: o: c: r R n dry-run dryrun",
    [
        Subcommand("*", SAFE, "", "", needs="dry-run dryrun"),
        Subcommand("rsync|sync", SAFE, "", "", needs="n"),
        Subcommand(
            "rm|del|rb|remove|mirror|rmi",
            HIGH,
            "cloud.delete",
            _DELETES,
            needs="r R recursive f force remove",
        ),
        Subcommand("rm|del|remove *[*]*", HIGH, "cloud.delete", _DELETES),
        Subcommand("iam|acl|anonymous ch|set *[aA]ll*|public|download|upload", HIGH, "cloud.rights", _OPENS),
        Subcommand("setacl", HIGH, "cloud.rights", _OPENS, needs="acl-public"),
        Subcommand("versioning set off", HIGH, "cloud.protection", "keeps no earlier versions from now on"),
        Subcommand("rb", HIGH, "cloud.delete", "deletes a bucket"),
        Subcommand("mb|setacl|iam|acl|versioning|lifecycle", MODERATE, "cloud.change", "changes buckets"),
        Subcommand(
            "rsync|sync|mirror",
            HIGH,
            "cloud.delete",
            "deletes what the source lacks",
            needs="d delete-removed delete delete-destination remove",
        ),
        Subcommand("rm|del|remove", MODERATE, "cloud.delete", "deletes an object"),
    ],
)
table(
    "hdfs hadoop",
    "rm rmr rmdir expunge skipTrash r R format ls cat du count df",
    [
        Subcommand("dfs|fs", HIGH, "cloud.delete", "deletes a folder with all in it", needs="rm rmr;r R rmr skipTrash"),
        Subcommand("dfs|fs", HIGH, "cloud.delete", "empties the trash", needs="expunge"),
        Subcommand("dfs|fs", MODERATE, "cloud.delete", "deletes a file", needs="rm rmdir"),
        Subcommand("namenode", HIGH, "disk.format", "formats the file system of a cluster", needs="format"),
    ],
)
