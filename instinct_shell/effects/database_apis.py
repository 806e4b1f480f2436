"""Databases that are reached without a client of their own: by HTTP, by plain lines on a socket, through the tool of a platform.

What a request would delete is told by the address of the service (its port or its name), the path and the body; SQL in a body or a query is
read as SQL. Rows that are only read or written stay what the request is anyway: a connection, an upload.
"""

from __future__ import annotations

import re
from functools import cache

from ..model.effect import Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, literal
from .call import Call, Scene
from .hosts import host_of, is_local

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .call import Describer

_DROP, _ALL = EffectKind.DB_DROP, EffectKind.DB_DELETE_UNSCOPED
# (engine, address of the service, methods ("" = any), path with its query, body ("" = any), what goes)
_APIS: tuple[tuple[str, str, str, str, str, EffectKind], ...] = (
    ("elasticsearch", r":92[04][03]\b|elastic|opensearch|//es\b|^es\b", "DELETE",
     r"^/(?:_all|[^/?]*\*[^/?]*|[^_/?][^/?]*|_(?:data_stream|snapshot)/[^?]+)/?(?:\?|$)", "", _DROP),
    ("elasticsearch", "", "POST", r"/_delete_by_query\b", r"match_all|^\s*$", _ALL),
    ("couchdb", r":[56]984\b|couch", "DELETE", r"^/[^/?]+/?(?:\?|$)", "", _DROP),
    ("influx", r":8086\b|influx", "DELETE", r"^/api/v2/buckets/", "", _DROP),
    ("influx", r":8086\b|influx", "POST", r"^/api/v2/delete\b", r"^(?![\s\S]*predicate)", _ALL),
    ("qdrant", r":633[34]\b|qdrant", "DELETE", r"^/collections/[^/?]+/?(?:\?|$)", "", _DROP),
    ("qdrant", r":633[34]\b|qdrant", "POST", r"/points/delete\b", r"\"filter\"\s*:\s*\{\s*\}|\"must\"\s*:\s*\[\s*\]", _ALL),
    ("weaviate", r"weaviate|:8080/v1/schema", "DELETE", r"^/v1/schema(?:/[^/?]+)?/?(?:\?|$)", "", _DROP),
    ("chroma", r"chroma|:8000/api/v[12]/", "DELETE", r"/collections/[^/?]+/?(?:\?|$)", "", _DROP),
    ("chroma", r"chroma|:8000/api/v[12]/", "POST", r"^/api/v[12]/reset\b", "", _DROP),
    ("milvus", "", "POST", r"/v2/vectordb/(?:collections|databases|partitions)/drop\b", "", _DROP),
    ("pinecone", r"pinecone", "POST", r"/vectors/delete\b", r"delete_?all\"?\s*:\s*true", _ALL),
    ("meilisearch", r":7700\b|meili", "DELETE", r"^/indexes/[^/?]+(?:/documents)?/?(?:\?|$)", "", _DROP),
    ("typesense", r":8108\b|typesense", "DELETE", r"^/collections/[^/?]+(?:/documents)?/?(?:\?|$)", "", _DROP),
    ("solr", "", "", r"/solr/admin/(?:collections|cores)\?.*\baction=(?:DELETE|UNLOAD)", "", _DROP),
    ("solr", "", "", r"/solr/[^/?]+/update\b", r"<query>\s*\*:\*|\"query\"\s*:\s*\"\*:\*\"", _ALL),
    ("consul", "", "DELETE", r"^/v1/kv/.*[?&]recurse\b", "", _ALL),
    ("etcd", "", "POST", r"/v3(?:alpha|beta)?/kv/deleterange\b", r"range_end", _ALL),
    ("etcd", "", "DELETE", r"^/v2/keys\b.*[?&]recursive=true", "", _ALL),
    ("rabbitmq", r":1?5672\b|rabbit", "DELETE", r"^/api/(?:queues|exchanges|vhosts|users)/", "", _DROP),
    ("prometheus", "", "", r"/api/v1/admin/tsdb/delete_series\b", "", _ALL),
    ("arangodb", r":8529\b|arango", "DELETE", r"/_api/(?:database|collection)/[^/?]+", "", _DROP),
    ("arangodb", r":8529\b|arango", "PUT", r"/_api/collection/[^/?]+/truncate\b", "", _ALL),
    ("redis", r":7379\b|upstash|webdis", "", r"(?i)/flush(?:all|db)\b", "", _ALL),
    ("redis", r":7379\b|upstash|webdis", "POST", "", r"(?i)\[\s*\"flush(?:all|db)\"", _ALL),
    ("kafka", r":808[12]\b|kafka", "DELETE", r"/topics/[^/?]+/?(?:\?|$)", "", _DROP),
    ("druid", "", "DELETE", r"^/druid/coordinator/v1/datasources/[^/?]+", "", _DROP),
    ("hbase", r"hbase", "DELETE", r"^/[^/?]+/schema\b", "", _DROP),
    ("postgrest", "", "DELETE", r"^/rest/v1/[^/?]+/?$", "", _ALL),
)  # fmt: skip
_SQL = r"(?is)^\s*(?:drop|truncate|delete|alter|remove|with|update|match|optional|call|begin|set|use)\b"
_KEYS = frozenset("sql query statement statements stmt q command cmd ksql queries sqls".split())


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str], frozenset[str], re.Pattern[str], re.Pattern[str], EffectKind], ...]:
    return tuple(
        (engine, re.compile(where, re.IGNORECASE), frozenset(methods.split()), re.compile(path), re.compile(body), kind)
        for engine, where, methods, path, body, kind in _APIS
    )


def api_effects(call: Call, scene: Scene, url: str, method: str, body: str) -> tuple[Effect, ...]:
    """What a request deletes in a database; () when it is no such request. A named index on this machine stays a service of one's own."""
    rest = url.partition("://")[2] or url
    at = rest.find("/")
    address, path = (rest[:at], rest[at:]) if at >= 0 else (rest.partition("?")[0], "/" + "?".join(rest.partition("?")[1:]))
    found = [effect for text in sql_texts(body, path) for effect in lost_rows(call, text, address)]
    for engine, where, methods, path_of, body_of, kind in _compiled():
        if (methods and method not in methods) or not path_of.search(path) or not where.search(f"//{address}{path[:16]}"):
            continue
        if not body_of.search(f"{body}{path}" if engine == "solr" else body):
            continue
        wide = kind is _ALL or "*" in path or "_all" in path
        if wide or not is_local(host_of(url)):
            name = path.partition("?")[0].strip("/")
            found.append(call.effect(kind, Target(TargetKind.OBJECT, name), engine=engine, statement=f"{method} {path}"[:80], target_env=address))
            break
    return tuple(found)


def sql_texts(body: str, path: str = "") -> Iterator[str]:
    """SQL (or Cypher) that stands in a request: the body itself, a member of its JSON, a field of a form, a parameter of the query."""
    if re.match(_SQL, body):
        yield body
    elif body.lstrip()[:1] in ("{", "["):
        import json

        try:
            yield from _members(json.loads(body), 0)
        except (ValueError, RecursionError):
            for match in re.finditer(r'"(\w+)"\s*:\s*"((?:\\.|[^"\\])*)"', body):
                if match[1].lower() in _KEYS and re.match(_SQL, match[2]):
                    yield match[2]
    for text in (path.partition("?")[2], body if "=" in body[:40] else ""):
        for pair in text.split("&"):
            name, equals, value = pair.partition("=")
            if equals and name.lower() in _KEYS:
                value = re.sub(r"%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), value.replace("+", " "))
                if re.match(_SQL, value):
                    yield value


def _members(data: object, depth: int) -> Iterator[str]:
    if depth > 5:
        return
    if isinstance(data, list):
        for one in data:
            if isinstance(one, str) and re.match(_SQL, one):
                yield one
            else:
                yield from _members(one, depth + 1)
    elif isinstance(data, dict):
        for key, value in data.items():
            if isinstance(value, str):
                if key.lower() in _KEYS and re.match(_SQL, value):
                    yield value
            else:
                yield from _members(value, depth + 1)


def lost_rows(call: Call, text: str, place: str, engine: str = "sql") -> Iterator[Effect]:
    """What a statement drops, or deletes without a condition."""
    from . import sql, sql_values

    common = {"engine": engine, "statement": " ".join(text.split())[:80], "target_env": place}
    if re.search(r"(?i)\bmatch\s*\([^)]*\)(?:\s*-\[[^\]]*\]->?\s*\([^)]*\))?\s*(?:detach\s+)?delete\b", text):
        yield call.effect(_ALL, None, common)
        return
    if match := re.match(r"(?i)\s*remove\s+(?:table|database|namespace)\s+(\S+)", text):
        yield call.effect(_DROP, Target(TargetKind.OBJECT, match[1]), common)
        return
    if not re.match(r"(?is)\s*(?:drop|truncate|delete|alter|with|update|begin|set|use)\b", text):
        return
    for statement in sql.analyse(text, "clickhouse" if re.search(r"(?i)\bon\s+cluster\b|\bsync\b", text) else "postgres"):
        kind = {sql_values.DROP: _DROP, sql_values.DELETE_ALL: _ALL}.get(statement.kind)
        if kind is not None:
            yield call.effect(kind, Target(TargetKind.OBJECT, statement.object), common, object=statement.object)


# ---------------------------------------------------------------- plain lines on a socket


def wire_effects(call: Call, scene: Scene, text: str | None, host: str, port: str) -> Iterator[Effect]:
    """What known text does that is sent to a socket: lines of memcached and redis, a raw HTTP request."""
    if not text:
        return
    place = f"{host}:{port}"
    request = re.match(r"([A-Z]+)[ ]+(\S+)[ ]+HTTP/", text)
    if request:
        from .http_request import Request

        raw = Request()
        raw.method = request[1]
        raw.urls.append(literal(request[2] if "://" in request[2] else f"http://{place}{request[2]}"))
        body = re.split(r"\r?\n\r?\n", text, maxsplit=1)[1:]
        if body and body[0].strip():
            raw.text(literal(body[0]))
        yield from raw.effects(call, scene)
        return
    if re.search(r"(?mi)^flush_all\b", text):
        yield call.effect(_ALL, None, engine="memcached", statement="flush_all", target_env=place)
    if re.search(r"(?mi)^(?:flushall|flushdb)\b", text) or port == "6379":
        from .stores import redis_command

        for line in text.splitlines():
            if line.strip() and line[0] not in "*$+:":
                yield from redis_command(call, line.split(), place)


# ---------------------------------------------------------------- SQL through the tool of a platform

# Program -> (first words, options with SQL, options with files, index of the word that is SQL or -1, engine, dialect)
_SERVED: dict[str, tuple[tuple[str, str, str, int, str, str], ...]] = {
    "wrangler": (("d1 execute", "--command", "--file", -1, "d1", "sqlite"),),
    "turso": (("db shell", "", "", 3, "turso", "sqlite"),),
    "pscale": (("shell", "--execute", "", -1, "planetscale", "mysql"), ("sql", "--query -q", "", 3, "planetscale", "mysql")),
    "neonctl": (("psql", "-c --command", "-f --file", -1, "neon", "postgres"), ("connection-string", "-c --command", "-f --file", -1, "neon", "postgres")),
    "supabase": (("db execute", "--sql --command", "-f --file", 2, "supabase", "postgres"), ("db query", "--sql", "-f --file", 2, "supabase", "postgres")),
    "fly": tuple((f"{word} connect", "--command", "", -1, "fly", "postgres") for word in ("postgres", "pg", "mpg")),
    "heroku": (("pg:psql", "-c --command", "-f --file", -1, "heroku", "postgres"),),
    "railway": (("connect", "-c --command", "", -1, "railway", "postgres"),),
    "render": (("psql", "-c --command", "-f --file", -1, "render", "postgres"),),
    "databricks": (("api post", "--json", "", -1, "databricks", "postgres"),),
    "confluent": (("flink statement create", "--sql", "", -1, "flink", "postgres"),),
    "gcloud": (
        ("sql connect", "", "", -1, "cloudsql", "postgres"),
        ("spanner databases execute-sql", "--sql", "", -1, "spanner", "postgres"),
        ("spanner databases ddl update", "--ddl", "--ddl-file", -1, "spanner", "postgres"),
    ),
    "aws": (
        ("rds-data execute-statement", "--sql", "", -1, "rds", "postgres"),
        ("rds-data batch-execute-statement", "--sql", "", -1, "rds", "postgres"),
        ("redshift-data execute-statement", "--sql", "", -1, "redshift", "postgres"),
        ("redshift-data batch-execute-statement", "--sqls", "", -1, "redshift", "postgres"),
        ("athena start-query-execution", "--query-string", "", -1, "athena", "hive"),
        ("dynamodb execute-statement", "--statement", "", -1, "dynamodb", "postgres"),
    ),
    "az": tuple(
        (f"{kind} flexible-server execute", "-q --querytext", "-f --file-path", -1, kind, "postgres" if kind == "postgres" else "mysql")
        for kind in ("postgres", "mysql")
    ),
}
_ALIASES = {"flyctl": "fly", "neon": "neonctl", "awslocal": "aws"}


def served_sql(call: Call, scene: Scene) -> Iterator[Effect]:
    """SQL that a platform's tool hands to a database: from options, a word, files, or stdin."""
    rows = _SERVED.get(_ALIASES.get(call.name, call.name), ())
    if not rows:
        return
    from .databases import Server, from_stdin, script, text_word

    words = [field for field in call.argv if not (field.text or field.prefix or "x").startswith("-")]
    texts = [field.text or "" for field in words]
    for lead, options, files, index, engine, dialect in rows:
        parts = lead.split()
        start = next((at for at in range(3) if texts[at : at + len(parts)] == parts), None)
        if start is None:
            continue
        server = Server(engine, "", " ".join(texts[start + len(parts) : start + len(parts) + 1]))
        given = [field for option, field in _arguments(call.argv) if option in options.split()]
        for field in given:
            if call.name == "databricks" and field.text:
                for text in sql_texts(field.text):
                    yield from text_word(call, scene, literal(text), server, dialect)
            else:
                yield from text_word(call, scene, field, server, dialect)
        named = [field for option, field in _arguments(call.argv) if option in files.split()]
        for field in named:
            yield from script(call, scene, field, server, dialect)
        operand = words[start + index : start + index + 1] if index >= 0 else []
        for field in operand:
            yield from text_word(call, scene, field, server, dialect)
        if not given and not named and not operand and call.invocation.stdin.kind in ("text", "pipe", "file"):
            yield from from_stdin(call, scene, server, dialect)
        return


def or_served(describe: Describer) -> Describer:
    """The describer of a platform's tool that says what SQL it is given does, and the tool's own words for the rest."""

    def described(call: Call, scene: Scene) -> Iterator[Effect]:
        served = tuple(served_sql(call, scene))
        yield from served or describe(call, scene)

    return described


def _arguments(argv: tuple[Field, ...]) -> Iterator[tuple[str, Field]]:
    """(option, argument) for each `--option argument` and `--option=argument`."""
    for at, field in enumerate(argv):
        text = field.text if field.text is not None else field.prefix
        name, equals, value = text.partition("=")
        if equals and name.startswith("-"):
            yield name, field.replace(values=(value,)) if field.text is not None else field.replace(prefix=value)
        elif text.startswith("-") and at + 1 < len(argv):
            yield text, argv[at + 1]


__all__ = ["api_effects", "lost_rows", "or_served", "served_sql", "sql_texts", "wire_effects"]
