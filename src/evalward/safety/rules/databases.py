"""Database clients and administration tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from evalward.safety.call import Answer, NestedCommand, ProgramCall
from evalward.safety.model import HIGH, MODERATE, SAFE, RiskLevel
from evalward.safety.registry import Subcommand, rule, table
from evalward.safety.sql import rate_sql
from evalward.safety.words import Word, literal, names

_SQL_OPTIONS = (
    "c/command/execute/e/query/q/Q: f/file/input-file/i: h/host: p: P: U/username: u/user: "
    "d/dbname/database: D: S: o/output: v/set: F: l/list A t x X w W n port: user: password: host: "
    "database: format: defaults-file: login-path: url:"
)
_SHELL_ESCAPE = re.compile(r"^\s*(?:\\!|\.shell|\.system|system|!)\s+(.+)$", re.MULTILINE)
_KEY_VALUE_DANGERS = names("FLUSHALL FLUSHDB SHUTDOWN SLAVEOF REPLICAOF DEBUG MIGRATE SCRIPT FAILOVER")
_TAKE_OVER = names("dir dbfilename requirepass masterauth protected-mode appendonly save slaveof replicaof bind")
_KEY_VALUE_CHANGES = names(
    "DEL UNLINK SET HSET LPUSH RPUSH SADD ZADD EXPIRE RENAME MOVE RESTORE EVAL EVALSHA HDEL CONFIG"
)


@rule(
    "psql mysql mariadb sqlite3 sqlite cockroach clickhouse-client clickhouse sqlcmd duckdb cqlsh bq "
    "influx snowsql sqlplus trino presto hive beeline impala-shell usql pgcli mycli litecli spark-sql "
    "vsql isql mssql-cli osql rqlite"
)
def sql_client(call: ProgramCall) -> Iterator[Answer]:
    """Judge SQL given as an option, as an operand, or on the input."""
    mysql_like = call.program in ("mysql", "mariadb", "mycli")
    options = call.options(_SQL_OPTIONS.replace(" p: ", " p? ") if mysql_like else _SQL_OPTIONS)
    given = options.all_values("c")
    # Clients differ in which options take a value; any argument that is a statement is judged as one.
    if call.program == "bq" and options.enabled("dry_run"):
        return
    texts = [*given, *(word for word in call.args if " " in word.text and word not in given)]
    if call.program in ("sqlite3", "sqlite", "duckdb", "bq", "litecli"):
        texts.extend(options.operands[1:])
    if call.stdin is not None and call.stdin.content is not None:
        texts.append(call.stdin.content)
    elif call.stdin is not None and not texts:
        yield from _unknown_input(call)
    if options.has("f", "S") and call.program not in ("mysql", "mariadb"):
        yield call.find("database.script", MODERATE, "runs SQL from a file, which is not examined")
    yield from rate_sql_words(call, texts)


def _unknown_input(call: ProgramCall) -> Iterator[Answer]:
    flow = call.stdin
    remote = flow is not None and flow.remote
    yield call.find("database.script", HIGH if remote else MODERATE, "runs SQL that is not examined")


def rate_sql_words(call: ProgramCall, texts: Iterable[Word]) -> Iterator[Answer]:
    """Judge words that are SQL, and the commands for a shell in them."""
    for word in texts:
        if word.opaque and len(word.pieces) == 1:
            yield call.find("opaque.script", HIGH, "runs SQL that is not known before it runs")
        for level, reason, statement in rate_sql(word.text):
            yield call.find("database.sql", level, f"{reason}: {statement}")
        for match in _SHELL_ESCAPE.finditer(word.text):
            yield NestedCommand(script=literal(match[1]))


_SCRIPT_DANGERS: tuple[tuple[re.Pattern[str], RiskLevel, str], ...] = (
    (
        re.compile(r"\.(?:dropDatabase|drop|dropAllUsers|dropAllRoles|shutdownServer|dropUser)\s*\("),
        HIGH,
        "drops data",
    ),
    (
        re.compile(r"\.(?:deleteMany|remove|updateMany|update)\s*\(\s*(?:\{\s*\})?\s*[,)]"),
        HIGH,
        "changes every document",
    ),
    (
        re.compile(r"(?:dropDatabase|shutdown|replSetReconfig)\s*:\s*1"),
        HIGH,
        "drops data or stops the server",
    ),
    (
        re.compile(r"\.(?:delete\w*|remove|insert\w*|update\w*|replace\w*|save|create\w*|drop\w+|rename\w*)\s*\("),
        MODERATE,
        "changes data",
    ),
)


@rule("mongo mongosh")
def mongo(call: ProgramCall) -> Iterator[Answer]:
    """Judge the script by the methods that it calls."""
    options = call.options("eval: u: p: host: port: authenticationDatabase: f/file: norc quiet")
    texts = [word.text for word in options.all_values("eval")]
    if call.stdin is not None:
        texts.append(call.stdin.content.text if call.stdin.content is not None else "")
    for text in texts:
        for pattern, level, reason in _SCRIPT_DANGERS:
            if pattern.search(text):
                yield call.find("database.script", level, reason)
                break
    if options.has("f"):
        yield call.find("database.script", MODERATE, "runs a script that is not examined")


@rule("redis-cli valkey-cli keydb-cli")
def redis(call: ProgramCall) -> Iterator[Answer]:
    """Judge the command given to the server."""
    operands = call.options("h: p: a: n: u: s: i: r: x: user: pass: pattern: eval: tls raw no-auth-warning").operands
    lines = [[word.text for word in operands]] if operands else []
    if not operands and call.stdin is not None and call.stdin.content is not None:
        lines = [line.split() for line in call.stdin.content.text.splitlines()]
    for words in lines:
        verb = words[0].upper() if words else ""
        second = words[1].upper() if len(words) > 1 else ""
        third = words[2].lower() if len(words) > 2 else ""
        takes_over = verb == "CONFIG" and second == "SET" and third in _TAKE_OVER
        if verb in _KEY_VALUE_DANGERS or takes_over or (verb, second) == ("CLUSTER", "RESET"):
            yield call.find("database.keys", HIGH, f"{verb} deletes everything or takes the server over")
        elif verb.startswith("EVAL") and re.search(r"flush(?:all|db)|shutdown|config", " ".join(words), re.I):
            yield call.find("database.keys", HIGH, "runs a script that deletes everything")
        elif verb in _KEY_VALUE_CHANGES:
            level = (
                HIGH
                if verb in ("DEL", "UNLINK") and any(word.opaque or word.glob for word in operands[1:])
                else MODERATE
            )
            yield call.find("database.keys", level, f"{verb} changes data")


@rule("cypher-shell")
def graph(call: ProgramCall) -> Iterator[Answer]:
    """Cypher, the language of a graph database."""
    texts = [word.text for word in call.args]
    if call.stdin is not None and call.stdin.content is not None:
        texts.append(call.stdin.content.text)
    if re.search(r"\b(?:detach\s+delete|drop\s+\w+|delete\s+\w)", " ".join(texts), re.IGNORECASE):
        yield call.find("database.graph", HIGH, "deletes nodes or definitions")


_GONE = "deletes a database or an account"
table("dropdb dropuser", "h: p: U: e i", [Subcommand("", HIGH, "database.drop", _GONE)])
table(
    "createdb createuser",
    "",
    [
        Subcommand("", HIGH, "database.account", "creates an account that may do everything", needs="s superuser"),
        Subcommand("", MODERATE, "database.create", "creates a database"),
    ],
)
table(
    "mysqladmin mariadb-admin",
    "u/user: p: h/host: P:",
    [
        Subcommand("drop|shutdown|kill|flush-*|password|reset-*", HIGH, "database.drop", _GONE),
        Subcommand("... drop|shutdown|password", HIGH, "database.drop", _GONE),
    ],
)
table(
    "pg_restore",
    "d: h: p: U: j: t: n: f:",
    [
        Subcommand("", HIGH, "database.restore", "drops what is there before it restores", needs="c clean C"),
        Subcommand("", MODERATE, "database.restore", "writes to a database"),
    ],
)
table(
    "mongorestore mongoimport",
    "db: d: c: collection: uri: h: host: port: u: p: file:",
    [
        Subcommand("", HIGH, "database.restore", "drops what is there before it restores", needs="drop"),
        Subcommand("", MODERATE, "database.restore", "writes to a database"),
    ],
)
table(
    "pg_resetwal pg_resetxlog pg_dropcluster mysql_install_db initdb",
    "D:",
    [Subcommand("", HIGH, "database.drop", "destroys or replaces a database cluster")],
)
table(
    "nodetool",
    "h: p:",
    [
        Subcommand(
            "clearsnapshot|decommission|drain|removenode|assassinate|stopdaemon|truncatehints",
            HIGH,
            "database.node",
            "takes data or a node away",
        )
    ],
)
table(
    "etcdctl consul zkcli zookeeper-shell",
    "endpoints: cacert: cert: key: user: password: w: from-key prefix recurse",
    [
        Subcommand(
            "del|delete|deleteall|rmr",
            HIGH,
            "database.keys",
            "deletes keys",
            needs="prefix from-key recursive",
        ),
        Subcommand("kv delete", HIGH, "database.keys", "deletes keys", needs="recurse"),
        Subcommand("member remove", HIGH, "database.node", "takes data or a node away"),
        Subcommand("auth disable", HIGH, "database.account", "switches the check of who may do what off"),
        Subcommand("user|role delete|revoke*|grant*", HIGH, "database.account", "changes who may do what"),
        Subcommand("get /registry/secrets*", HIGH, "credential.read", "shows secrets of a cluster"),
        Subcommand("leave|force-leave", HIGH, "database.node", "takes data or a node away"),
        Subcommand("acl token|policy|role delete", HIGH, "database.account", "changes who may do what"),
        Subcommand("del", MODERATE, "database.keys", "deletes one key"),
        Subcommand("rm|rmdir|deleteall|rmr", HIGH, "database.keys", "deletes keys"),
        Subcommand("put|set|kv|member", MODERATE, "database.keys", "changes keys"),
    ],
)
table(
    "kafka-topics kafka-topics.sh kafka-delete-records.sh kafka-consumer-groups.sh",
    "topic: bootstrap-server: zookeeper:",
    [
        Subcommand("", HIGH, "database.topic", "deletes messages", needs="delete offset-json-file"),
        Subcommand("", HIGH, "database.topic", "reads or skips messages again", needs="reset-offsets;execute"),
        Subcommand("", MODERATE, "database.topic", "changes topics", needs="create alter reset-offsets"),
    ],
)

_RESET = "drops or rebuilds the database"
table(
    "rails rake bin/rails",
    "",
    [
        Subcommand(
            "db:drop*|db:reset|db:purge|db:schema:load|db:truncate_all|db:setup|db:migrate:reset",
            HIGH,
            "database.reset",
            _RESET,
        ),
        Subcommand("db:*", MODERATE, "database.migrate", "changes the database"),
    ],
)
table(
    "artisan",
    "",
    [
        Subcommand("migrate:fresh|migrate:reset|migrate:refresh|db:wipe|queue:flush", HIGH, "database.reset", _RESET),
        Subcommand("migrate*|db:*", MODERATE, "database.migrate", "changes the database"),
    ],
)
table(
    "prisma",
    "",
    [
        Subcommand("migrate reset", HIGH, "database.reset", _RESET),
        Subcommand("db push", HIGH, "database.reset", _RESET, needs="force-reset accept-data-loss"),
        Subcommand("migrate|db", MODERATE, "database.migrate", "changes the database"),
    ],
)
table(
    "alembic flask",
    "",
    [
        Subcommand("upgrade|downgrade", SAFE, "", "only prints the statements", needs="sql"),
        Subcommand("downgrade base", HIGH, "database.reset", _RESET),
        Subcommand("db downgrade", HIGH, "database.reset", _RESET),
        Subcommand("upgrade|downgrade|db", MODERATE, "database.migrate", "changes the database"),
    ],
)
table(
    "sequelize sequelize-cli knex typeorm mix doctrine diesel sqlx flyway liquibase dbmate goose drizzle-kit",
    "",
    [
        Subcommand(
            "db:drop|schema:drop|ecto.drop|ecto.reset|drop|clean|drop-all|dropAll|reset|db:migrate:undo:all",
            HIGH,
            "database.reset",
            _RESET,
        ),
        Subcommand("database reset|drop", HIGH, "database.reset", _RESET),
        Subcommand("migrate:rollback", HIGH, "database.reset", _RESET, needs="all"),
    ],
)
table(
    "influx",
    "b/bucket: start: stop: p/predicate: o:",
    [
        Subcommand("delete", HIGH, "database.drop", "deletes data"),
        Subcommand("bucket|org delete", HIGH, "database.drop", "deletes data"),
    ],
)
table("dotnet", "", [Subcommand("ef database drop", HIGH, "database.reset", _RESET)])
table(
    "bq",
    "project_id: dataset_id: location:",
    [Subcommand("rm", HIGH, "database.drop", "deletes a table or a data set")],
)
table(
    "supabase",
    "",
    [
        Subcommand("db reset", HIGH, "database.reset", _RESET),
        Subcommand("projects delete", HIGH, "database.reset", _RESET),
    ],
)


def rate_manage_script(call: ProgramCall, operands: tuple[Word, ...]) -> Iterator[Answer]:
    """``python manage.py COMMAND`` of Django."""
    texts = [word.text for word in operands]
    if not texts or texts[0].rpartition("/")[2] not in ("manage.py", "django-admin", "artisan"):
        return
    command = texts[1] if len(texts) > 1 else ""
    if command in (
        "flush",
        "reset_db",
        "sqlflush",
        "migrate:fresh",
        "migrate:reset",
        "migrate:refresh",
        "db:wipe",
    ) or (command == "migrate" and texts[-1] == "zero"):
        yield call.find("database.reset", HIGH, _RESET)
