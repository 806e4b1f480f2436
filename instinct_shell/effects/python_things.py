"""Databases, clouds, processes of others, and the methods of objects in the Python reader."""

from __future__ import annotations

import ast
import re

from ..model.effect import EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from .databases import Server, statement_effects
from .hosts import host_of
from .infra import infra, verb_class
from .python_ground import Args, Ground, Named
from .python_values import UNKNOWN, Many, Ref, Table, Thing, Under, Unknown, field_of, taint
from .roles import weakest
from .spend import repetition

_SQL = re.compile(
    r"\s*(?:select|insert|update|delete|drop|truncate|alter|create|replace|with|pragma|vacuum|grant|revoke|copy|merge|attach|explain|show|set|begin|call|do)\s+\S",
    re.IGNORECASE,
)
_EXECUTES = frozenset(
    "execute executemany executescript raw query sql fetch fetchrow fetchval fetch_all execute_many read_sql text "
    "exec_driver_sql run_sync execute_sql".split()
)
_ENGINES = {
    "sqlite3": "sqlite",
    "aiosqlite": "sqlite",
    "duckdb": "duckdb",
    "pymysql": "mysql",
    "MySQLdb": "mysql",
    "mysql": "mysql",
    "pymssql": "mssql",
    "pyodbc": "mssql",
    "oracledb": "oracle",
    "cx_Oracle": "oracle",
    "snowflake": "snowflake",
    "clickhouse_connect": "clickhouse",
}
_DIALECTS = {
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "mysql": "mysql",
    "mssql": "tsql",
    "oracle": "oracle",
    "snowflake": "snowflake",
    "clickhouse": "clickhouse",
}
_HTTP_VERBS = {"get": "GET", "head": "HEAD", "options": "OPTIONS", "post": "POST", "put": "PUT", "patch": "PATCH", "delete": "DELETE"}
_LIBC = frozenset(
    "system popen execv execve execl execlp execvp unlink remove rmdir rename mount umount kill setuid ptrace syscall reboot".split()
)
_MONGO_WIPES = frozenset("drop_database drop_collection drop".split())


class Things(Ground):
    """Effects through objects of libraries."""

    def do_database(self, name: str, args: Args, named: Named) -> object:
        module = name.split(".", maxsplit=1)[0]
        place = (
            field_of(args[0] if args else named.get("dsn", named.get("database", named.get("host", UNKNOWN))))
            if args or named
            else literal("")
        )
        engine = _ENGINES.get(module, "")
        text = place.text or place.prefix
        if not engine:
            engine = next((e for e in ("sqlite", "mysql", "mssql", "oracle", "snowflake", "duckdb") if text.startswith(e)), "postgres")
        if module in ("sqlite3", "aiosqlite", "duckdb") and text != ":memory:":
            self.touch(EffectKind.FILE_APPEND, place)
        return Thing("database", Server(engine, text.rsplit("/", 1)[-1][:60], text, host_of(text) if "://" in text else ""))

    def sql(self, server: Server, value: object) -> None:
        """SQL text sent to a database."""
        field = field_of(value)
        call = self.call.replace(certainty=weakest(self.call.certainty, self.sure))
        dialect = _DIALECTS.get(server.engine, "postgres")
        texts = field.values if field.known is not Known.DYNAMIC else (f"{field.prefix}?{field.suffix}",) if field.prefix.strip() else ()
        for text in texts:
            self.effects.extend(statement_effects(call, self.scene, text, server, dialect))
        if not texts:
            self.add(EffectKind.DB_WRITE, None, server.attributes(), dynamic="interpreter", unknown="1")

    def do_mongo(self, name: str, args: Args, named: Named) -> object:
        return Thing("mongo", field_of(args[0]).text if args else "")

    def do_redis(self, name: str, args: Args, named: Named) -> object:
        return Thing("redis", field_of(args[0]).text if args else "")

    def do_cloud(self, name: str, args: Args, named: Named) -> object:
        return Thing("client", name.split(".", maxsplit=1)[0], field_of(args[0]).text if args else "")

    def do_paid(self, name: str, args: Args, named: Named) -> object:
        if name.endswith(("create", "completion", "run")):
            self.add(
                EffectKind.API_CALL,
                Target(TargetKind.NAME, name),
                repetition(self.call, self.scene),
                provider=name.split(".", maxsplit=1)[0],
                unknown="1",
            )
        return Thing("paid", name.split(".", maxsplit=1)[0])

    def do_kill(self, name: str, args: Args, named: Named) -> object:
        if name == "os.abort":
            return None
        pid = args[0] if args else UNKNOWN
        signal = args[1] if len(args) > 1 else UNKNOWN
        shown = str(signal) if isinstance(signal, int) else signal.name.rsplit(".", 1)[-1] if isinstance(signal, Ref) else ""
        by = "all" if pid == -1 else "signal0" if signal == 0 else "child" if isinstance(pid, Thing) and pid.kind == "child pid" else "pid"
        text = str(pid) if isinstance(pid, int) else "parent" if isinstance(pid, Thing) and pid.kind == "parent pid" else ""
        self.add(
            EffectKind.PROCESS_KILL,
            Target(TargetKind.PROCESS, text, "" if text else "computed by the program"),
            by=by,
            signal=shown,
            group="1" if name.endswith("killpg") else "",
        )
        return None

    def do_psutil(self, name: str, args: Args, named: Named) -> object:
        return Thing("psutil", args[0] if args else None)

    def do_privilege(self, name: str, args: Args, named: Named) -> object:
        if name in ("os.setuid", "os.setgid", "os.seteuid") and args and type(args[0]) is int and args[0] != 0:
            return None
        self.add(EffectKind.SYSTEM_PRIVILEGE, Target(TargetKind.OBJECT, name), tool="setuid", action=name)
        return None

    def do_library(self, name: str, args: Args, named: Named) -> object:
        for one in args[:1]:
            if isinstance(one, Field) and "/" in (one.text or ""):
                self.touch(EffectKind.FILE_EXECUTE, one)
                self.opaque("file", "loads a library")
        return Thing("library")

    def do_keyring(self, name: str, args: Args, named: Named) -> object:
        self.add(
            EffectKind.SECRET_READ, Target(TargetKind.OBJECT, field_of(args[0]).text or "" if args else ""), store="keyring", prints="1"
        )
        return Unknown("env")

    def do_repo(self, name: str, args: Args, named: Named) -> object:
        return Thing("repo", args[0] if args else literal("."))

    def unknown_call(self, name: str, args: Args, named: Named) -> object:
        """A function that is not in the table."""
        last = name.rsplit(".", 1)[-1]
        root = name.split(".", maxsplit=1)[0]
        if name == "os.getppid":
            return Thing("parent pid")
        if name == "os.fork":
            return Thing("child pid")
        if root in ("requests", "httpx") and last in _HTTP_VERBS:
            return self.request(_HTTP_VERBS[last], args, named)
        if last == "drop_all":
            self.add(EffectKind.DB_DROP, Target(TargetKind.OBJECT, "metadata"), engine="orm", statement=name)
        if root in ("openai", "anthropic") and last in ("create", "generate", "stream"):
            return self.do_paid(name, args, named)
        if any("env" in taint(one) for one in args) and root in ("yaml", "tomli_w", "pprint"):
            return Unknown("env")
        return UNKNOWN

    def thing_method(self, base: object, name: str, args: Args, named: Named, node: ast.Call | None) -> object:
        """A method of anything that is no text."""
        kind = base.kind if isinstance(base, Thing) else ""
        handler = getattr(self, "on_" + kind.replace(" ", "_"), None) if kind else None
        if handler is not None:
            return handler(base, name, args, named)
        if isinstance(base, Many) and name in ("append", "add", "insert", "extend"):
            return self._grown(base, name, args, node)
        if isinstance(base, Table):
            return self._table_method(base, name, args)
        if name in _EXECUTES and args and isinstance(args[0], Field) and _SQL.match(args[0].text or args[0].prefix or ""):
            self.sql(Server("sql"), args[0])
            return Thing("database", Server("sql"))
        text = ast.unparse(node.func) if node is not None else ""
        if name == "delete" and re.search(r"\.objects\.all\(\)\.delete$|\.query\.delete$|\.delete_all$", text):
            self.add(EffectKind.DB_DELETE_UNSCOPED, Target(TargetKind.OBJECT, text.split(".")[0]), engine="orm", statement=text[:80])
        elif name in ("drop_all", "delete_all", "truncate_all"):
            self.add(EffectKind.DB_DROP, Target(TargetKind.OBJECT, text[:60]), engine="orm", statement=text[:80])
        elif name in ("flushall", "flushdb"):
            self.add(EffectKind.DB_DELETE_UNSCOPED, engine="redis", statement=name)
        elif name in ("exec_command", "sudo") and args and isinstance(args[0], Field):
            self.remote(args[0], "")
        elif name == "get_secret_value" or (name == "get_parameter" and named.get("WithDecryption") is True):
            self.add(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, name), store="aws", prints="1")
        elif (
            name
            in (
                "to_csv",
                "to_json",
                "to_excel",
                "to_parquet",
                "to_pickle",
                "savefig",
                "save",
                "tofile",
                "extractall",
                "write_csv",
                "write_parquet",
                "to_file",
            )
            and args
            and isinstance(args[0], (Field, Under))
        ):
            self.touch(EffectKind.FILE_CREATE if name == "extractall" else EffectKind.FILE_WRITE, args[0])
        elif name == "system" and args and isinstance(args[0], Field):
            self.shell_text(args[0])
        return base if isinstance(base, Unknown) and base.source else UNKNOWN

    def _grown(self, base: Many, name: str, args: Args, node: ast.Call | None) -> object:
        """list.append and its kin, on a named list."""
        items = args[0].items if name == "extend" and args and isinstance(args[0], Many) else args[-1:]
        grown = Many((*base.items, *items), base.more)
        if node is not None and isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name) and len(grown.items) < 500:
            self.names[node.func.value.id] = grown  # the reader's namespace
        return None

    def _table_method(self, base: Table, name: str, args: Args) -> object:
        if name in ("get", "pop", "setdefault"):
            return base.get(field_of(args[0]).text or "" if args else "") or (args[1] if len(args) > 1 else UNKNOWN)
        if name == "values":
            return Many(tuple(value for _, value in base.pairs))
        if name == "keys":
            return Many(tuple(key for key, _ in base.pairs))
        if name == "items":
            return Many(tuple(Many(pair) for pair in base.pairs))
        return UNKNOWN

    def on_database(self, base: Thing, name: str, args: Args, named: Named) -> object:
        server = base.detail if isinstance(base.detail, Server) else Server("sql")
        if name in _EXECUTES and args:
            self.sql(server, args[0])
        return base

    def on_mongo(self, base: Thing, name: str, args: Args, named: Named) -> object:
        common = {"engine": "mongo", "statement": name, "target_env": str(base.detail or "")[:80]}
        empty = not args or (isinstance(args[0], Table) and not args[0].pairs)
        if name in _MONGO_WIPES:
            self.add(EffectKind.DB_DROP, Target(TargetKind.OBJECT, field_of(args[0]).text or "" if args else ""), common)
        elif name in ("delete_many", "update_many", "remove") and empty:
            self.add(EffectKind.DB_DELETE_UNSCOPED, None, common)
        elif name.startswith(("delete", "update", "insert", "replace", "bulk", "rename", "create", "find_one_and")):
            self.add(EffectKind.DB_WRITE, None, common, rows="one" if name.endswith("_one") else "")
        elif name in ("find", "find_one", "count_documents", "aggregate", "distinct", "list_database_names"):
            self.add(EffectKind.DB_READ, None, common)
        return base

    def on_redis(self, base: Thing, name: str, args: Args, named: Named) -> object:
        from .stores import redis_command

        if not name.startswith("_"):
            words = [name, *(field_of(one).text or "?" for one in args)]
            self.effects.extend(redis_command(self.call, words, str(base.detail or ""), weakest(self.call.certainty, self.sure)))
        return UNKNOWN

    def on_client(self, base: Thing, name: str, args: Args, named: Named) -> object:
        tool = {"boto3": "aws"}.get(str(base.detail), str(base.detail))
        if name == "get_secret_value" or (name == "get_parameter" and named.get("WithDecryption") is True):
            self.add(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, name), store=tool, prints="1")
        elif name.startswith("purchase"):
            self.add(EffectKind.SPEND_COMMIT, Target(TargetKind.OBJECT, name), provider=tool, unknown="1")
        elif name in ("upload_file", "upload_fileobj", "put_object"):
            if args and isinstance(args[0], (Field, Under)) and name == "upload_file":
                self.touch(EffectKind.FILE_READ, args[0], source_of_copy="1")
            self.add(EffectKind.NET_UPLOAD, Target(TargetKind.HOST, tool), upload="file", via=tool)
        elif "_" in name or name in ("delete", "terminate", "remove", "prune", "kill"):
            kind = verb_class(name.replace("_", "-"))
            if kind is not None and name != "close":
                self.effects.append(infra(self.call, kind, tool, name, base.more if isinstance(base.more, str) else ""))
        return base

    def on_paid(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in ("create", "generate", "stream", "parse", "complete", "generate_content", "chat"):
            self.add(
                EffectKind.API_CALL,
                Target(TargetKind.NAME, str(base.detail)),
                repetition(self.call, self.scene),
                provider=str(base.detail),
                unknown="1",
            )
        return base

    def on_psutil(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in ("kill", "terminate", "suspend", "send_signal"):
            text = str(base.detail) if isinstance(base.detail, int) else ""
            self.add(
                EffectKind.PROCESS_KILL, Target(TargetKind.PROCESS, text, "" if text else "computed by the program"), by="pid", signal=name
            )
        return base

    def on_library(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in ("system", "popen") and args:
            self.shell_text(args[0])
        elif name in ("unlink", "remove", "rmdir") and args:
            self.touch(EffectKind.FILE_DELETE, args[0])
        elif name in _LIBC:
            self.opaque("generated", f"calls `{name}` of the C library")
        return UNKNOWN

    def on_repo(self, base: Thing, name: str, args: Args, named: Named) -> object:
        words = tuple(field_of(one) for one in args if isinstance(one, (Field, Many, int, str)))
        folder = base.detail if isinstance(base.detail, Field) else None
        if name == "git":
            return base
        self.process((literal("git"), literal(name.replace("_", "-")), *words), {"cwd": folder} if folder is not None else {})
        return UNKNOWN

    def on_method(self, base: Thing, name: str, args: Args, named: Named) -> object:
        """`client.x.y(...)`: the chain keeps its first object."""
        inner = base.detail
        if isinstance(inner, Thing) and inner.kind in ("mongo", "client", "paid", "repo", "database", "library", "http", "ssh"):
            return self.thing_method(inner, name, args, named, None)
        return self.thing_method(UNKNOWN, name, args, named, None) if isinstance(inner, Unknown) else UNKNOWN

    def on_class(self, base: Thing, name: str, args: Args, named: Named) -> object:
        return UNKNOWN
