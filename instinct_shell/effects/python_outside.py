"""What Python code does beyond files and processes: network, databases, clouds, the environment, other processes."""

from __future__ import annotations

import ast
import re

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known, literal
from .call import Call, Scene
from .databases import Server, statement_effects
from .hosts import address_attributes, host_of
from .infra import infra, verb_class
from .network import Request
from .python_values import UNKNOWN, Many, Ref, Table, Thing, Under, Unknown, concat, field_of, taint
from .roles import weakest
from .secrets import is_secret_name
from .spend import repetition
from .verbs import variables_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .python_calls import Args, Named

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


class Outside:
    """Mixin of the reader: the outside world."""

    def __init__(self, call: Call, scene: Scene) -> None:
        self.call = call
        self.scene = scene
        self.sure = Certainty.CERTAIN
        self.effects: list[Effect] = []
        self.connected = ""
        self.duplicated = False

    def add(self, kind: EffectKind, target: Target | None = None, extra: dict[str, str] | None = None, /, **attributes: str) -> None:
        """An effect with the certainty of this place in the code."""
        self.effects.append(
            self.call.effect(kind, target, {**attributes, **(extra or {})}, certainty=weakest(self.call.certainty, self.sure))
        )

    # provided by the subclasses
    def touch(self, kind: EffectKind, value: object, **attributes: str) -> None: ...
    def opaque(self, source: str, reason: str) -> None: ...
    def process(self, words: tuple[Field, ...], named: Named) -> None: ...
    def shell_text(self, value: object, named: Named | None = None) -> None: ...
    def invoke(self, function: object, args: Args, named: Named) -> object: ...
    def value(self, node: ast.expr) -> object: ...
    def content(self, path: object) -> object: ...
    def item_of(self, iterable: object) -> object: ...

    # ------------------------------------------------------------ names that are values

    def constant(self, name: str) -> object:
        """A dotted name that is a value, else the reference itself."""
        if name in ("os.environ", "os.environb"):
            return Thing("environ")
        if name == "sys.argv":
            return Many(tuple(getattr(self, "argv", ())), more=not getattr(self, "argv", ()))
        if name in ("os.sep", "os.path.sep"):
            return literal("/")
        if name in ("os.curdir", "os.pardir"):
            return literal("." if name.endswith("curdir") else "..")
        if name == "sys.executable":
            return literal("python3")
        if name in ("sys.modules",):
            return Thing("modules")
        if name in ("os.__dict__", "builtins.__dict__", "subprocess.__dict__", "shutil.__dict__") or name.endswith(".__dict__"):
            return Thing("module dict", name[: -len(".__dict__")])
        if name in ("sys.stdin", "sys.stdin.buffer"):
            return Thing("stdin")
        if name in ("string.ascii_lowercase", "string.ascii_letters"):
            letters = "abcdefghijklmnopqrstuvwxyz"
            return literal(letters if name.endswith("lowercase") else letters + letters.upper())
        return Ref(name)

    def property(self, base: object, name: str) -> object:
        """An attribute of a value that is no module."""
        if isinstance(base, (Field, Under)):
            import posixpath

            from .python_values import each

            if name == "parent":
                return each(base, posixpath.dirname) if isinstance(base, Field) else base
            if name == "parents":
                return Thing("parents", base)
            if name == "path":
                return base
            if name in ("name", "stem", "suffix"):
                if isinstance(base, Under):
                    return Field(Known.SET, ("*",), glob=True, many=True)
                if name == "name":
                    return each(base, posixpath.basename)
                return each(base, lambda p: posixpath.splitext(posixpath.basename(p))[0 if name == "stem" else 1])
            return Thing("method", base, name)
        if isinstance(base, Thing):
            if base.kind in ("file", "scratch file") and name == "name":
                return base.detail
            if base.kind == "process" and name == "pid":
                return Thing("child pid")
            if base.kind == "response" and name in ("text", "content", "body", "data", "raw"):
                return Unknown("network")
            if base.kind in ("mongo", "client", "repo", "database", "kube", "library"):
                return Thing("method", base, name)
            return Thing("method", base, name)
        if isinstance(base, Unknown):
            return base if base.source else Thing("method", base, name)
        return Thing("method", base, name)

    def subscript(self, base: object, index: ast.expr) -> object:
        """base[index]"""
        if isinstance(index, ast.Slice):
            return self._sliced(base, index)
        key = self.value(index)
        if isinstance(base, Thing):
            if base.kind == "environ":
                return self.environment_value(field_of(key).text)
            if base.kind in ("modules", "namespace"):
                text = field_of(key).text
                found = getattr(self, "names", {}).get(text) if text else None
                return (
                    found
                    if found is not None
                    else Ref(text if base.kind == "modules" else f"builtins.{text}")
                    if text
                    else Unknown("computed")
                )
            if base.kind == "module dict":
                text = field_of(key).text
                return Ref(f"{base.detail}.{text}") if text else Unknown("computed")
            if base.kind == "parents" and isinstance(base.detail, Field) and type(key) is int:
                import posixpath

                found_text = base.detail
                for _ in range(key + 1):
                    from .python_values import each

                    next_text = each(found_text, posixpath.dirname)
                    found_text = next_text if isinstance(next_text, Field) else found_text
                return found_text
            if base.kind in ("mongo", "client", "method"):
                return base
        if isinstance(base, Ref) and base.name == "builtins.globals":
            return UNKNOWN
        if isinstance(base, Many) and type(key) is int and not base.more:
            return base.items[key] if -len(base.items) <= key < len(base.items) else UNKNOWN
        if isinstance(base, Many):
            return self.item_of(base)
        if isinstance(base, Table):
            return base.get(field_of(key).text or "") or UNKNOWN
        if isinstance(base, Field) and base.text is not None and type(key) is int and -len(base.text) <= key < len(base.text):
            return literal(base.text[key])
        return base if isinstance(base, Unknown) else Unknown(next(iter(sorted(taint(base))), ""))

    def _sliced(self, base: object, index: ast.Slice) -> object:
        bounds = [self.value(part) if part is not None else None for part in (index.lower, index.upper, index.step)]
        if not all(bound is None or type(bound) is int for bound in bounds):
            return base
        cut = slice(*(bound if type(bound) is int else None for bound in bounds))
        if cut.step == 0:
            return UNKNOWN
        if isinstance(base, Many) and not base.more:
            return Many(base.items[cut])
        if isinstance(base, Field) and base.known is not Known.DYNAMIC and not base.glob:
            from .python_values import each

            return each(base, lambda text: text[cut])
        return base

    def stored(self, base: object, key: object, value: object) -> None:
        """base[key] = value"""
        if isinstance(base, Thing) and base.kind == "environ":
            name = field_of(key).text or ""
            if name in ("LD_PRELOAD", "PATH", "BASH_ENV", "LD_LIBRARY_PATH", "PYTHONSTARTUP") or name.startswith(("INSTINCT_", "GIT_")):
                self.add(EffectKind.ENV_HIJACK, Target(TargetKind.NAME, name), variable=name, value=(field_of(value).text or "")[:120])

    def formatted(self, base: Field, value: object) -> object:
        """base % value"""
        items = value.items if isinstance(value, Many) else (value,)
        pieces = re.split(r"%[-+ #0]*\d*(?:\.\d+)?[sdrif]", base.text) if base.text is not None else None
        if pieces is None or len(pieces) != len(items) + 1:
            return Unknown(next(iter(sorted(taint(value))), ""))
        found: object = literal(pieces[0].replace("%%", "%"))
        for item, piece in zip(items, pieces[1:], strict=True):
            found = concat(concat(found, item if isinstance(item, (Field, Under)) else field_of(item)), literal(piece.replace("%%", "%")))
        return found

    def formatted_braces(self, base: Field, args: Args) -> object:
        """base.format(*args)"""
        if base.text is None:
            return base
        found: object = literal("")
        for index, piece in enumerate(re.split(r"(\{[^{}]*\})", base.text)):
            if index % 2:
                name = piece[1:-1].split(":")[0].split("!")[0]
                place = int(name) if name.isdigit() else (index - 1) // 2
                item = args[place] if place < len(args) else UNKNOWN
                found = concat(found, item if isinstance(item, (Field, Under)) else field_of(item))
            else:
                found = concat(found, literal(piece.replace("{{", "{").replace("}}", "}")))
        return found

    # ------------------------------------------------------------ environment and output

    def environment_value(self, name: str | None) -> object:
        """The value of a variable: known ones as text, secrets and unknown ones not."""
        if name is None:
            return Unknown("env")
        known = variables_of(self.call, self.scene).get(name)
        if known is None and name == "HOME":
            return literal(self.scene.home)
        if known is not None and not is_secret_name(name):
            return known
        return Unknown("env") if is_secret_name(name) else Unknown("variable")

    def do_getenv(self, name: str, args: Args, named: Named) -> object:
        key = field_of(args[0]).text if args else None
        found = self.environment_value(key)
        default = args[1] if len(args) > 1 else named.get("default")
        if isinstance(found, Unknown) and default is not None and key is not None and key not in variables_of(self.call, self.scene):
            return default
        return found

    def do_environ_whole(self, name: str, args: Args, named: Named) -> object:
        return Unknown("env")

    def do_print_(self, name: str, args: Args, named: Named) -> object:
        if any("env" in taint(one) for one in (*args, *named.values())):
            self.add(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, "environment"), store="env", prints="1")
        if name == "builtins.input":
            return Unknown("stdin")
        return None

    def do_dumps(self, name: str, args: Args, named: Named) -> object:
        if name == "builtins.vars" and args and isinstance(args[0], Ref):
            return Thing("module dict", args[0].name)
        sources = sorted(frozenset().union(*(taint(one) for one in args))) if args else []
        if args and isinstance(args[0], (Table, Many)) and not sources:
            return spelled(args[0])
        return Unknown(sources[0]) if sources else args[0] if args and isinstance(args[0], Thing) else UNKNOWN

    def do_stdin(self, name: str, args: Args, named: Named) -> object:
        from .output import stdin_text

        if self.call.invocation.stdin.kind in ("text", "pipe", "file") and getattr(self, "stdin_is_data", True):
            text = stdin_text(self.call.invocation, self.scene)
            if text is not None:
                return literal(text)
        return Unknown("stdin")

    # ------------------------------------------------------------ network

    def request(self, method: str, args: Args, named: Named, body_at: int = 1) -> object:
        """One HTTP request."""
        request = Request()
        url = args[0] if args else named.get("url", UNKNOWN)
        if isinstance(url, Thing) and url.kind == "request":
            return self.request(str(url.more), url.detail.items if isinstance(url.detail, Many) else (), {}, 1)
        request.urls = [field_of(url)]
        request.method = method
        bodies = [
            *args[body_at : body_at + 1],
            *(named[name] for name in ("data", "json", "content", "body", "fields") if named.get(name) is not None),
        ]
        if method in ("GET", "HEAD", "OPTIONS") and not bodies:
            bodies = [named["params"]] if "env" in taint(named.get("params")) else []
        secret = any("env" in taint(one) for one in bodies)
        for one in bodies:
            request.text(field_of(spelled(one) if isinstance(one, (Table, Many)) else one))
        if named.get("files") is not None:
            request.sends.append("file")
        if bodies and method == "GET":
            request.method = "POST"
        call = self.call.replace(certainty=weakest(self.call.certainty, self.sure))
        found = list(request.effects(call, self.scene))
        if secret:
            found = [
                e.replace(
                    kind=EffectKind.NET_UPLOAD, attributes=tuple(sorted({**dict(e.attributes), "upload": "env", "secret": "1"}.items()))
                )
                for e in found
            ]
        self.effects.extend(found)
        return Thing("response")

    def do_http_get(self, name: str, args: Args, named: Named) -> object:
        if name.endswith("urlretrieve") or name == "wget.download":
            place = args[1] if len(args) > 1 else named.get("filename", named.get("out"))
            self.request("GET", args[:1], {})
            if place is not None:
                self.touch(EffectKind.FILE_WRITE, place)
            return Many((place or UNKNOWN, UNKNOWN))
        return self.request("HEAD" if name.endswith("head") else "GET", args, named)

    def do_http_post(self, name: str, args: Args, named: Named) -> object:
        return self.request(name.rsplit(".", 1)[-1].upper(), args, named)

    def do_http_delete(self, name: str, args: Args, named: Named) -> object:
        return self.request("DELETE", args, named)

    def do_http_request(self, name: str, args: Args, named: Named) -> object:
        if name.endswith("Request"):
            method = (
                field_of(named["method"]).text if "method" in named else "POST" if len(args) > 1 or named.get("data") is not None else "GET"
            )
            items = (*args[:1], *(args[1:2] or ((named["data"],) if named.get("data") is not None else ())))
            return Thing("request", Many(items), method or "POST")
        method = field_of(args[0]).text if args else field_of(named.get("method", UNKNOWN)).text
        return self.request((method or "POST").upper(), args[1:], named, 1)

    def do_http_client(self, name: str, args: Args, named: Named) -> object:
        return Thing("http")

    def do_http_connection(self, name: str, args: Args, named: Named) -> object:
        host = field_of(args[0] if args else named.get("host", UNKNOWN))
        return Thing("http connection", host)

    def do_socket(self, name: str, args: Args, named: Named) -> object:
        return Thing("socket")

    def do_socket_to(self, name: str, args: Args, named: Named) -> object:
        first = args[0] if args else named.get("host", named.get("address", UNKNOWN))
        self.connect(first.items[0] if isinstance(first, Many) and first.items else first, name.rsplit(".", 1)[-1])
        return Thing("socket")

    def connect(self, host: object, via: str) -> None:
        """A connection to a host."""
        field = field_of(host)
        text = host_of(field.text or field.prefix)
        self.connected = text or "unknown"
        self.add(
            EffectKind.NET_CONNECT,
            Target(TargetKind.HOST, text, "" if field.text is not None else field.reason or "dynamic word"),
            address_attributes(text),
            via=via,
        )
        if self.duplicated:
            self.reverse_shell()

    def do_listen(self, name: str, args: Args, named: Named) -> object:
        self.add(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via=name)
        return Thing("server")

    def do_http_server(self, name: str, args: Args, named: Named) -> object:
        return self.do_listen(name, args, named)

    def do_dup2(self, name: str, args: Args, named: Named) -> object:
        self.duplicated = True
        if self.connected:
            self.reverse_shell()
        return None

    def do_spawn_shell(self, name: str, args: Args, named: Named) -> object:
        return UNKNOWN

    def reverse_shell(self) -> None:
        """A socket tied to a process."""
        self.add(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, self.connected), reverse="1", via="python")

    def do_ssh_client(self, name: str, args: Args, named: Named) -> object:
        if args or "host" in named:
            self.connect(args[0] if args else named["host"], "ssh")
            return Thing("ssh", args[0] if args else named["host"])
        return Thing("ssh", UNKNOWN)

    def do_mail(self, name: str, args: Args, named: Named) -> object:
        self.add(EffectKind.NET_UPLOAD, Target(TargetKind.HOST, self.connected), upload="text", via="smtp")
        return None

    # ------------------------------------------------------------ databases, clouds, processes

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
        if last in ("drop_all",):
            self.add(EffectKind.DB_DROP, Target(TargetKind.OBJECT, "metadata"), engine="orm", statement=name)
        if root in ("openai", "anthropic") and last in ("create", "generate", "stream"):
            return self.do_paid(name, args, named)
        if any("env" in taint(one) for one in args) and root in ("yaml", "tomli_w", "pprint"):
            return Unknown("env")
        return UNKNOWN

    # ------------------------------------------------------------ methods of things

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
            self._remote(args[0], "")
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
            getattr(self, "names")[node.func.value.id] = grown  # the reader's namespace
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

    def _remote(self, command: Field, host: str) -> None:
        from .remote import nested_remote

        where = host or self.connected or "unknown"
        self.add(EffectKind.NET_REMOTE_EXEC, Target(TargetKind.HOST, where), via="ssh", command=(command.text or command.prefix)[:80])
        if command.text is not None:
            self.effects.extend(nested_remote(command.text, self.call, self.scene, where, "python ssh"))

    def on_environ(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in ("get", "pop", "setdefault", "__getitem__"):
            return self.do_getenv("os.environ.get", args, named)
        if name == "items":
            return Thing("environ items")
        if name in ("update", "__setitem__"):
            for one in args:
                for key, value in one.pairs if isinstance(one, Table) else ():
                    self.stored(base, key, value)
            if name == "__setitem__" and len(args) > 1:
                self.stored(base, args[0], args[1])
            return None
        return Unknown("env") if name in ("copy", "values", "__str__", "__repr__") else UNKNOWN

    def on_stdin(self, base: Thing, name: str, args: Args, named: Named) -> object:
        return self.do_stdin(name, args, named)

    def on_file(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in ("read", "readline", "readlines", "read1"):
            return self.content(base.detail) if isinstance(base.detail, (Field, Under)) else Unknown("file")
        if name in ("add", "write") and base.more == "w" and args and isinstance(args[0], (Field, Under)) and name == "add":
            self.touch(EffectKind.FILE_READ, args[0], source_of_copy="1", recursive="1")
        if name in ("write", "writelines") and args and "env" in taint(args[0]):
            self.add(EffectKind.SECRET_READ, Target(TargetKind.OBJECT, "environment"), store="env")
        if name == "write" and isinstance(base.detail, Field) and args and isinstance(args[0], Field) and args[0].text is not None:
            self._remember(base.detail, args[0].text)
        if name in ("extractall", "extract"):
            place = args[-1] if args and name == "extractall" else named.get("path", literal("."))
            self.touch(EffectKind.FILE_CREATE, place, recursive="1")
        return base if name == "__enter__" else UNKNOWN

    def _remember(self, path: Field, text: str) -> None:
        """Text written to a file, for code that reads or runs it later."""
        from .call import path_targets

        for target, _ in path_targets(path, self.call.invocation.cwd):
            if target.kind is TargetKind.PATH and not target.dynamic:
                self.scene.files[target.text] = (self.scene.files.get(target.text) or "") + text

    def on_response(self, base: Thing, name: str, args: Args, named: Named) -> object:
        return Unknown("network") if name in ("read", "json", "text", "iter_content", "iter_lines", "getvalue", "decode") else base

    def on_http(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in _HTTP_VERBS:
            return self.request(_HTTP_VERBS[name], args, named)
        if name == "request" or name == "stream":
            return self.do_http_request("requests.request", args, named)
        return base

    def on_http_connection(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name == "request" and isinstance(base.detail, Field):
            url = concat(concat(literal("http://"), base.detail), args[1] if len(args) > 1 else literal("/"))
            return self.request((field_of(args[0]).text or "POST").upper() if args else "GET", (url, *args[2:3]), named)
        return Thing("response") if name == "getresponse" else base

    def on_socket(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name in ("connect", "connect_ex"):
            address = args[0] if args else UNKNOWN
            self.connect(address.items[0] if isinstance(address, Many) and address.items else address, "socket")
        elif name in ("bind", "listen"):
            if name == "listen":
                self.add(EffectKind.NET_LISTEN, Target(TargetKind.HOST, ""), via="socket")
        elif name in ("send", "sendall", "sendto", "sendfile", "storbinary", "storlines", "sendmail", "send_message"):
            secret = "1" if args and "env" in taint(args[0]) else ""
            self.add(
                EffectKind.NET_UPLOAD,
                Target(TargetKind.HOST, self.connected),
                upload="env" if secret else "file" if name.startswith("stor") else "text",
                secret=secret,
                via="socket",
            )
        elif name in ("recv", "read", "makefile", "recvfrom"):
            return Unknown("network")
        elif name == "delete":
            self.add(
                EffectKind.FILE_DELETE,
                Target(TargetKind.PATH, field_of(args[0]).text or "" if args else ""),
                remote=self.connected or "unknown",
            )
        return base if name in ("__enter__", "accept", "fileno") else UNKNOWN

    def on_ssh(self, base: Thing, name: str, args: Args, named: Named) -> object:
        if name == "connect":
            self.connect(args[0] if args else named.get("hostname", UNKNOWN), "ssh")
        elif name in ("exec_command", "run", "sudo") and args:
            self._remote(field_of(args[0]), host_of(field_of(base.detail).text or "") if isinstance(base.detail, Field) else "")
        return base

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
        words = tuple(field_of(one) for one in args if isinstance(one, (Field, Many)) or isinstance(one, (int, str)))
        folder = base.detail if isinstance(base.detail, Field) else None
        if name in ("git",):
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


def spelled(value: object) -> object:
    """A table or list as JSON-like text, as far as it is known."""
    if isinstance(value, Table):
        found: object = literal("{")
        for key, item in value.pairs:
            found = concat(found, concat(concat(literal('"'), field_of(key)), concat(literal('": '), field_of(spelled(item)))))
            found = concat(found, literal(", "))
        return concat(found, literal("}"))
    if isinstance(value, Many):
        found = literal("[")
        for item in value.items:
            found = concat(found, concat(field_of(spelled(item)), literal(", ")))
        return concat(found, literal("]"))
    return value if isinstance(value, (Field, Unknown)) else field_of(value)
