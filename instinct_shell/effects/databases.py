"""SQL shells and the tools around them: psql, mysql, sqlite3, duckdb, sqlcmd ..., dump, restore, create and drop.

SQL comes from -c / -e / -f, from operands, from stdin (heredoc, here-string, known output by pipe); see sql.py for how it is read. A file
that this line did not write is `code.script language=sql`: a gate looks at it. Each effect names engine, database and server as far as known.
"""

from __future__ import annotations

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from . import sql, sql_values
from .call import Call, Program, Scene
from .database_tools import dump, restore, whole_database
from .followed import GIVEN, followed
from .hosts import host_of, is_local
from .output import as_program, stdin_text
from .remote import nested_remote
from .roles import file_effects, weakest
from .scripts import printed
from .sql_clients import variables_filled
from .verbs import shown, spoken, variables_of, with_attributes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = {
    sql_values.READ: EffectKind.DB_READ,
    sql_values.WRITE: EffectKind.DB_WRITE,
    sql_values.DELETE_ALL: EffectKind.DB_DELETE_UNSCOPED,
    sql_values.DROP: EffectKind.DB_DROP,
}


class Server:
    """Which database a client talks to, in words: engine, database, and the text that names the server."""

    __slots__ = ("database", "engine", "host", "place")

    def __init__(self, engine: str, database: str = "", place: str = "", host: str = "") -> None:
        self.engine, self.database, self.place, self.host = engine, database, place, host

    def attributes(self) -> dict[str, str]:
        """engine, database and target_env."""
        return {"engine": self.engine, "database": self.database, "target_env": self.place}


def statement_effects(call: Call, scene: Scene, text: str, server: Server, dialect: str) -> Iterator[Effect]:
    """The effects of SQL text sent to this server."""
    if dialect == "postgres":
        text = variables_filled(text, [field.text or "" for option, field in call.values if option in ("-v", "--set", "--variable")])
    for statement in sql.analyse(text, dialect):
        kind = KINDS.get(statement.kind)
        if kind is not None:
            yield call.effect(
                kind,
                Target(TargetKind.OBJECT, statement.object),
                server.attributes(),
                statement=statement.text,
                object=statement.object,
                rows=statement.rows,
            )
        elif statement.kind == sql_values.SHELL:
            if statement.where == "server" and server.host and not is_local(server.host):
                yield from nested_remote(statement.object, call, scene, server.host, f"{call.name} program")
            else:
                yield from scene.nested_shell(statement.object, call, via=f"{call.name} {statement.verb}")
        elif statement.kind in (sql_values.FILE_READ, sql_values.FILE_WRITE):
            what = EffectKind.FILE_READ if statement.kind == sql_values.FILE_READ else EffectKind.FILE_WRITE
            if statement.object:
                yield from file_effects(call, scene, what, literal(statement.object))
        elif statement.kind == sql_values.SCRIPT:
            yield from script(call, scene, literal(statement.object), server, dialect)
        elif statement.kind == sql_values.SWITCH:
            server = Server(server.engine, statement.object, server.place, server.host)
        elif statement.kind == sql_values.UNKNOWN:
            yield call.effect(EffectKind.DB_WRITE, None, server.attributes(), certainty=Certainty.POSSIBLE, statement=statement.text, unknown="1")


def script(call: Call, scene: Scene, field: Field, server: Server, dialect: str) -> Iterator[Effect]:
    """A file of SQL that the client runs: followed when its text is known."""
    if any(origin.kind == "process" for origin in field.origins):
        known = printed(field, scene)
        if known is not None:
            yield from statement_effects(call, scene, known, server, dialect)
        else:
            yield _opaque(call, server, field.reason)
        return
    for effect in file_effects(call, scene, EffectKind.CODE_SCRIPT, field, language="sql", dialect=dialect, **server.attributes()):
        text = scene.files.get(effect.target.text)
        if text is not None:
            yield with_attributes(effect, readable="1", written="" if scene.sources.get(effect.target.text) == GIVEN else "1")
            yield from followed(statement_effects(call, scene, text, server, dialect), effect.target.text, scene)
        else:
            yield effect


def text_word(call: Call, scene: Scene, field: Field, server: Server, dialect: str) -> Iterator[Effect]:
    """SQL given as a word; what is not known of it may be anything, what is known counts."""
    if field.known is not Known.DYNAMIC:
        sure = call if len(field.values) == 1 else call.replace(certainty=weakest(call.certainty, Certainty.POSSIBLE))
        for value in field.values:
            yield from statement_effects(sure, scene, value, server, dialect)
        return
    known = f"{field.prefix} '?' {field.suffix}" if field.prefix.count("'") % 2 == 0 else f"{field.prefix}?{field.suffix}"
    found = tuple(statement_effects(call, scene, known, server, dialect)) if field.prefix.strip() else ()
    yield from found
    if not found:
        yield _opaque(call, server, field.reason or "the SQL is not known")


def _opaque(call: Call, server: Server, reason: str, source: str = "variable") -> Effect:
    return call.effect(
        EffectKind.CODE_OPAQUE,
        None,
        server.attributes(),
        certainty=Certainty.UNKNOWN,
        language="sql",
        reason=reason,
        source=source,
        dynamic="interpreter",
    )


def from_stdin(call: Call, scene: Scene, server: Server, dialect: str) -> Iterator[Effect]:
    """SQL on stdin; without any, a dialogue that is judged as a look."""
    from . import flow

    stdin = (call := as_program(call)).invocation.stdin
    text = stdin_text(call.invocation, scene)
    if text is not None and stdin.kind in ("text", "pipe", "file"):
        yield from statement_effects(call, scene, text, server, dialect)
    elif stdin.kind == "text" and stdin.field is not None:
        yield from text_word(call, scene, stdin.field, server, dialect)
    elif stdin.kind == "file" and stdin.field is not None:
        yield from script(call, scene, stdin.field, server, dialect)
    elif stdin.kind == "pipe":
        names = {scene.invocations[i].words[0].text for i in stdin.producers if i < len(scene.invocations) and scene.invocations[i].words}
        files = [e for i in stdin.producers for e in scene.effects_of.get(i, ()) if e.kind is EffectKind.FILE_READ]
        if names & {"pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "pg_restore"}:
            yield call.effect(EffectKind.DB_WRITE, None, server.attributes(), statement="restores a dump")
        elif names == {"cat"} and files:
            for effect in files:
                yield call.effect(
                    EffectKind.CODE_SCRIPT,
                    effect.target,
                    server.attributes(),
                    certainty=effect.certainty,
                    language="sql",
                    dialect=dialect,
                )
        else:
            yield _opaque(call, server, "the SQL comes through a pipe", flow.source_of(stdin.producers, scene))
    else:
        yield call.effect(EffectKind.DB_READ, None, server.attributes())


# ---------------------------------------------------------------- the shells


class Shell:
    """How one SQL shell takes its SQL: engine, dialect, options with text, with files, with the database and the host, operand that is the database."""

    __slots__ = ("database", "dialect", "engine", "files", "host", "operands", "outputs", "texts")

    def __init__(
        self, engine: str, dialect: str, texts: str, files: str, database: str, host: str, operands: str = "database", outputs: str = ""
    ) -> None:
        self.engine, self.dialect = engine, dialect
        self.texts, self.files = tuple(texts.split()), tuple(files.split())
        self.database, self.host = tuple(database.split()), tuple(host.split())
        self.operands, self.outputs = operands, tuple(outputs.split())

    def server(self, call: Call, scene: Scene) -> Server:
        """Where this call connects: option, operand, URL, environment."""
        name = call.value(*self.database) if self.database else None
        if name is None and self.operands.startswith("database") and call.operands:
            name = call.operands[0]
        host = call.value(*self.host) if self.host else None
        database, place = spoken(name), spoken(host)
        variables = {name: spoken(field) for name, field in variables_of(call, scene).items()}
        if "://" in database or "=" in database or database.startswith("$"):
            place = place or database
            if "://" in database:
                database = database.split("://", 1)[1].partition("/")[2].partition("?")[0]
        fallback = {"postgres": ("PGDATABASE", "PGHOST"), "mysql": ("MYSQL_DATABASE", "MYSQL_HOST")}.get(self.engine, ("", ""))
        database = database or variables.get(fallback[0], "")
        place = place or variables.get(fallback[1], "")
        return Server(self.engine, database, place, host_of(place) if place and "$" not in place else "")


SHELLS: dict[str, Shell] = {
    "psql": Shell("postgres", "postgres", "-c --command", "-f --file", "-d --dbname", "-h --host", outputs="-o --output -L --log-file"),
    "pgcli": Shell("postgres", "postgres", "-c --command --execute", "-f --file", "-d --dbname", "-h --host"),
    "usql": Shell("sql", "postgres", "-c --command", "-f --file", "", "", outputs="-o --out"),
    "cockroach": Shell("cockroach", "postgres", "-e --execute", "-f --file", "-d --database --url", "--host", operands="none"),
    "mysql": Shell("mysql", "mysql", "-e --execute --init-command", "", "-D --database", "-h --host", outputs="--tee"),
    "mycli": Shell("mysql", "mysql", "-e --execute", "", "-D --database", "-h --host", outputs="-l --logfile"),
    "sqlite3": Shell("sqlite", "sqlite", "-cmd", "-init", "", "", operands="database text"),
    "litecli": Shell("sqlite", "sqlite", "-e --execute", "", "", "", operands="database"),
    "duckdb": Shell("duckdb", "duckdb", "-c -s -cmd", "-f -init", "", "", operands="database text"),
    "clickhouse-client": Shell("clickhouse", "clickhouse", "-q --query", "--queries-file", "-d --database", "-h --host", operands="none"),
    "sqlcmd": Shell("mssql", "tsql", "-Q -q", "-i", "-d", "-S", operands="none", outputs="-o"),
    "snowsql": Shell("snowflake", "snowflake", "-q --query", "-f --filename", "-d --dbname", "-a --accountname", operands="none"),
    "snow": Shell("snowflake", "snowflake", "-q --query", "-f --filename", "--database", "-c --connection", operands="none"),
    "bq": Shell("bigquery", "bigquery", "", "", "--dataset_id", "--project_id", operands="verb"),
    "cqlsh": Shell("cassandra", "postgres", "-e --execute", "-f --file", "-k --keyspace", "", operands="none"),
    "sqlplus": Shell("oracle", "oracle", "", "", "", "", operands="database script"),
    "hive": Shell("hive", "hive", "-e", "-f", "--database", "-h", operands="none"),
    "beeline": Shell("hive", "hive", "-e", "-f", "", "-u", operands="none"),
    "presto": Shell("presto", "presto", "--execute", "-f --file", "--schema --catalog", "--server", operands="none"),
    "isql": Shell("sql", "tsql", "", "", "", "", operands="database"),
}
ALIASES = {
    "mariadb": "mysql",
    "trino": "presto",
    "clickhouse": "clickhouse-client",
    "sqlite": "sqlite3",
    "impala-shell": "hive",
    "spark-sql": "hive",
    "fbsql": "isql",
    "ysqlsh": "psql",
    "pgsql": "psql",
    "tursodb": "sqlite3",
    "dolt": "mysql",
}


def sql_shell(call: Call, scene: Scene) -> Iterator[Effect]:
    """One call of a SQL shell."""
    shell = SHELLS[ALIASES.get(call.name, call.name) if ALIASES.get(call.name, call.name) in SHELLS else "psql"]
    if call.has("-?", "-V", "--version", "--help", "-version"):
        return
    if call.name in ("cockroach", "dolt", "snow", "bq") and not _speaks_sql(call):
        yield from _tool_verb(call, scene, shell)
        return
    server = shell.server(call, scene)
    if shell.engine in ("sqlite", "duckdb") and call.operands and shown(call.operands[0]) not in (":memory:", ""):
        yield from _with_file(call, scene, shell, server)
        return
    yield from _texts(call, scene, shell, server)


def _with_file(call: Call, scene: Scene, shell: Shell, server: Server) -> Iterator[Effect]:
    """A database that is a file: it is read, and appended to when rows change."""
    found = tuple(_texts(call, scene, shell, server))
    changes = any(effect.kind in (EffectKind.DB_WRITE, EffectKind.DB_DROP, EffectKind.DB_DELETE_UNSCOPED) for effect in found)
    yield from file_effects(call, scene, EffectKind.FILE_APPEND if changes else EffectKind.FILE_READ, call.operands[0])
    yield from found


def _texts(call: Call, scene: Scene, shell: Shell, server: Server) -> Iterator[Effect]:
    spoke = False
    for option, field in call.values:
        if option in shell.texts:
            spoke = spoke or option not in ("-cmd", "--init-command")
            yield from text_word(call, scene, field, server, shell.dialect)
        elif option in shell.files:
            spoke = True
            if shown(field) == "-":
                yield from from_stdin(call, scene, server, shell.dialect)
            else:
                yield from script(call, scene, field, server, shell.dialect)
        elif option in shell.outputs and shown(field) != "-":
            if shown(field).startswith("|"):
                yield from scene.nested_shell(shown(field)[1:], call, via=f"{call.name} {option}")
            else:
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)
    if shell.operands == "database text":
        for field in call.operands[1:]:
            spoke = True
            yield from text_word(call, scene, field, server, shell.dialect)
    elif shell.operands == "database script":
        for field in call.operands[1:]:
            spoke = True
            yield from script(call, scene, literal(shown(field).lstrip("@")), server, shell.dialect)
    elif shell.operands == "verb":
        for field in call.operands[1:]:
            spoke = True
            yield from text_word(call, scene, field, server, shell.dialect)
    if not spoke and not call.has("-l", "--list"):
        yield from from_stdin(call, scene, server, shell.dialect)


def _speaks_sql(call: Call) -> bool:
    verb = shown(call.operands[0]) if call.operands else ""
    return verb in ("sql", "query") or (call.name == "dolt" and verb == "sql") or (call.name == "snow" and verb == "sql")


def _tool_verb(call: Call, scene: Scene, shell: Shell) -> Iterator[Effect]:
    """bq rm, cockroach node decommission, dolt reset: not SQL."""
    from .infra import infra, verb_class

    for field in call.operands[:2]:
        kind = verb_class(shown(field))
        if kind is EffectKind.INFRA_DESTROY:
            yield infra(call, kind, call.name, shown(field), call.operands[-1])
            return
    if call.operands:
        kind = verb_class(shown(call.operands[0])) or EffectKind.INFRA_READ
        yield infra(call, kind, call.name, shown(call.operands[0]), call.operands[-1])


# ---------------------------------------------------------------- dump, restore, create, drop


_PG = (
    "-h --host -p --port -U --username -d --dbname -v --set --variable -P --pset -F --field-separator -R --record-separator -T "
    "--table-attr -o --output -L --log-file -c --command -f --file"
)
_MY = (
    "-h --host -P --port -u --user -D --database -e --execute -S --socket --init-command --tee --default-character-set "
    "--defaults-file --defaults-extra-file --prompt --delimiter -p= --password="
)

PROGRAMS: tuple[Program, ...] = (
    Program(("psql", "pgcli", "usql", "ysqlsh"), _PG + " --execute --out", describe=sql_shell, summary="PostgreSQL shell"),
    Program(("mysql", "mariadb", "mycli"), _MY + " -l --logfile", describe=sql_shell, style="nohelp", summary="MySQL shell"),
    Program(
        ("sqlite3", "sqlite", "duckdb", "litecli", "tursodb"),
        "-cmd -init -separator -newline -nullvalue -mmap -maxsize -c -s -f -e --execute -vfs",
        style="single",
        describe=sql_shell,
        summary="database in a file",
    ),
    Program(
        ("cockroach", "dolt"),
        "-e --execute -f --file -d --database --url --host -p --port -u --user --certs-dir -q --query",
        describe=sql_shell,
        summary="SQL database",
    ),
    Program(
        ("clickhouse-client", "clickhouse"),
        "-q --query --queries-file -d --database -h --host --port -u --user --password --format",
        describe=sql_shell,
        summary="ClickHouse shell",
    ),
    Program(("sqlcmd", "isql"), "-S -d -U -P -Q -q -i -o -v -t -s -w -h -l", describe=sql_shell, summary="SQL Server shell"),
    Program(
        ("snowsql", "snow", "bq"),
        "-q --query -f --filename -d --dbname --database -a --accountname -c --connection -u --username -r -w -o "
        "--project_id --dataset_id --location --format --max_rows",
        describe=sql_shell,
        summary="warehouse client",
    ),
    Program(
        ("cqlsh", "hive", "beeline", "impala-shell", "spark-sql", "presto", "trino"),
        "-e --execute -f --file -k --keyspace -u --username -p --password --database -n -i -h --hiveconf --hivevar "
        "--server --catalog --schema --output-format",
        describe=sql_shell,
        summary="SQL shell",
    ),
    Program(("sqlplus",), "-M -R -C", describe=sql_shell, summary="Oracle shell"),
    Program(
        ("pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mongodump", "mongoexport", "cockroach-dump", "pg_basebackup"),
        "-h --host -p --port -U --username -d --dbname --db -f --file -F --format -t --table -n --schema -r "
        "--result-file -o --out --archive -u --user -c --collection --uri -j --jobs -D --pgdata -T -N -q --query",
        describe=dump,
        summary="dumps a database",
    ),
    Program(
        ("pg_restore", "mongorestore", "mysqlimport", "mongoimport"),
        "-h --host -p --port -U --username -d --dbname --db -f --file -F --format -t --table -n --schema -j --jobs -L "
        "--use-list -u --user --collection --uri --archive --type --nsInclude",
        describe=restore,
        longs="--clean --drop --if-exists --create --list",
        summary="restores a database",
    ),
    Program(
        ("dropdb", "createdb", "dropuser", "createuser", "mysqladmin", "mariadb-admin"),
        "-h --host -p --port= -U --username -T --template -O --owner -E --encoding -D --tablespace -u --user -P -l "
        "--locale --maintenance-db -S --socket",
        describe=whole_database,
        summary="makes and drops databases",
    ),
    Program(
        ("pg_resetwal", "pg_resetxlog", "innochecksum"),
        "-D --pgdata",
        when=(("", "db.delete_unscoped engine=postgres statement=reset-wal"),),
        harmless="-n --dry-run",
        summary="resets a database's log",
    ),
    Program(
        (
            "pg_isready",
            "vacuumdb",
            "reindexdb",
            "pgbench",
            "pg_config",
            "pg_controldata",
            *("mysqlcheck", "mysqlshow", "mysql_config"),
            "sqldiff",
            "sqlite3_analyzer",
        ),
        style="raw",
        when=(("", "db.read"),),
        summary="looks after a database",
    ),
)
