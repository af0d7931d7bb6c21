"""Object storage, and other places where files lie far away: buckets, clusters of files."""

from __future__ import annotations

from evalward.safety.model import HIGH, MODERATE, SAFE
from evalward.safety.registry import Row, table

_DELETES = "deletes things in the cloud"
_OPENS = "opens a bucket to everybody"

table(
    "gsutil s3cmd mc s5cmd azcopy",
    "h: o: c: r R n dry-run dryrun",
    [
        Row("*", SAFE, "", "", needs="dry-run dryrun"),
        Row("rsync|sync", SAFE, "", "", needs="n"),
        Row(
            "rm|del|rb|remove|mirror|rmi",
            HIGH,
            "cloud.delete",
            _DELETES,
            needs="r R recursive f force remove",
        ),
        Row("rm|del|remove *[*]*", HIGH, "cloud.delete", _DELETES),
        Row("iam|acl|anonymous ch|set *[aA]ll*|public|download|upload", HIGH, "cloud.rights", _OPENS),
        Row("setacl", HIGH, "cloud.rights", _OPENS, needs="acl-public"),
        Row("versioning set off", HIGH, "cloud.protection", "keeps no earlier versions from now on"),
        Row("rb", HIGH, "cloud.delete", "deletes a bucket"),
        Row("mb|setacl|iam|acl|versioning|lifecycle", MODERATE, "cloud.change", "changes buckets"),
        Row(
            "rsync|sync|mirror",
            HIGH,
            "cloud.delete",
            "deletes what the source lacks",
            needs="d delete-removed delete delete-destination remove",
        ),
        Row("rm|del|remove", MODERATE, "cloud.delete", "deletes an object"),
    ],
)
table(
    "hdfs hadoop",
    "rm rmr rmdir expunge skipTrash r R format ls cat du count df",
    [
        Row("dfs|fs", HIGH, "cloud.delete", "deletes a folder with all in it", needs="rm rmr;r R rmr skipTrash"),
        Row("dfs|fs", HIGH, "cloud.delete", "empties the trash", needs="expunge"),
        Row("dfs|fs", MODERATE, "cloud.delete", "deletes a file", needs="rm rmdir"),
        Row("namenode", HIGH, "disk.format", "formats the file system of a cluster", needs="format"),
    ],
)
