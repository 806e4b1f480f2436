"""Databases without SQL: redis, mongo, etcd, influx, search engines' command lines."""

from __future__ import annotations

import re

from ..model.effect import Certainty, Effect, EffectKind, Target, TargetKind
from ..shell.invocation import Field, Known
from .call import Call, Program, Scene
from .database_apis import lost_rows
from .followed import followed
from .output import as_program, stdin_text
from .roles import file_effects
from .verbs import shown, split, spoken, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# ---------------------------------------------------------------- redis

_REDIS_READS = frozenset(
    "get mget hget hgetall hmget hkeys hvals hlen hexists lrange llen lindex smembers sismember scard zrange "
    "zrangebyscore zscore zcard zrank keys "
    "scan sscan hscan zscan exists type ttl pttl strlen getrange info dbsize ping echo time lastsave memory object "
    "client command cluster latency "
    "monitor slowlog xrange xlen xread xinfo pubsub randomkey dump bitcount getbit select auth hello role subscribe "
    "psubscribe touch json.get ft.search".split()
)
_REDIS_WIPES = frozenset("flushall flushdb".split())
_REDIS_ONE = frozenset(
    "del unlink set setex setnx hset hdel lpush rpush lpop rpop sadd srem zadd zrem incr decr expire persist rename "
    "getset append getdel".split()
)


def redis_command(call: Call, words: list[str], place: str, certainty: Certainty | None = None) -> Iterator[Effect]:
    """One redis command."""
    if not words:
        return
    verb = words[0].lower()
    common = {"engine": "redis", "statement": " ".join(words)[:80], "target_env": place}
    target = Target(TargetKind.OBJECT, words[1] if len(words) > 1 else "")
    if verb in ("eval", "eval_ro") and len(words) > 1:
        yield from _redis_script(call, words[1], place, certainty)
    elif verb == "config" and len(words) > 3 and words[1].lower() == "set" and words[2].lower() in ("dir", "dbfilename", "logfile", "unixsocket"):
        yield call.effect(EffectKind.DB_WRITE, target, common, certainty=certainty)
        # The server writes there from now on: the old way to an authorized_keys or a crontab.
        path = words[3] if words[3].startswith("/") else ""
        if path:
            yield call.effect(EffectKind.FILE_WRITE, Target(TargetKind.PATH, path.rstrip("/") or "/"), certainty=certainty, engine="redis")
    elif verb in _REDIS_WIPES:
        yield call.effect(EffectKind.DB_DELETE_UNSCOPED, target, common, certainty=certainty)
    elif verb in _REDIS_READS:
        if verb not in ("client", "cluster", "memory") or (
            words[1:2] and words[1].lower() in ("list", "info", "nodes", "usage", "stats", "getname", "slots", "doctor")
        ):
            yield call.effect(EffectKind.DB_READ, target, common, certainty=certainty)
        else:
            yield call.effect(EffectKind.DB_WRITE, target, common, certainty=certainty)
    elif verb == "config" and words[1:2] and words[1].lower() == "get":
        yield call.effect(EffectKind.DB_READ, target, common, certainty=certainty)
    else:
        one = "one" if verb in _REDIS_ONE and (len(words) == 2 or verb not in ("del", "unlink")) else ""
        yield call.effect(EffectKind.DB_WRITE, target, common, certainty=certainty, rows=one)


def _redis_script(call: Call, script: str, place: str, certainty: Certainty | None) -> Iterator[Effect]:
    """`EVAL`: the commands that the Lua text names; one whose name is computed may be any."""
    calls = re.findall(r"redis\.p?call\s*\(\s*(?:([\"'])(\w+)\1((?:\s*,\s*[\"'][^\"']*[\"'])*))?", script)
    for quote, name, rest in calls:
        if quote:
            yield from redis_command(call, [name, *re.findall(r"[\"']([^\"']*)[\"']", rest)], place, certainty)
    if not calls or not all(quote for quote, _, _ in calls):
        yield call.effect(EffectKind.DB_WRITE, None, {"engine": "redis", "statement": script[:80], "target_env": place}, certainty=certainty)


def redis(call: Call, scene: Scene) -> Iterator[Effect]:
    """redis-cli [options] COMMAND ARGS; commands may come on stdin, one a line."""
    place = spoken(call.value("-h", "-u", "-s"))
    file = call.value("--eval")
    if file is not None:
        yield from file_effects(call, scene, EffectKind.CODE_SCRIPT, file, language="lua")
        yield call.effect(EffectKind.DB_WRITE, engine="redis", statement="eval script", target_env=place)
        return
    dump = call.value("--rdb", "--functions-rdb")
    if dump is not None:
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, dump)
    if call.operands:
        if any(field.known is Known.DYNAMIC for field in call.operands[:1]):
            yield call.effect(
                EffectKind.DB_WRITE,
                certainty=Certainty.UNKNOWN,
                engine="redis",
                statement="unknown command",
                dynamic="interpreter",
                target_env=place,
            )
            return
        listed = any(field.known is not Known.STATIC or field.many for field in call.operands[1:])
        for effect in redis_command(call, [shown(field) for field in call.operands], place):
            wipes = listed and shown(call.operands[0]).lower() in ("del", "unlink") and effect.kind is EffectKind.DB_WRITE
            yield effect.replace(kind=EffectKind.DB_DELETE_UNSCOPED) if wipes else effect
        return
    if call.has("--scan", "--bigkeys", "--memkeys", "--hotkeys", "--stat", "--latency") or dump is not None:
        yield call.effect(EffectKind.DB_READ, engine="redis", target_env=place)
        return
    call = as_program(call)
    text = stdin_text(call.invocation, scene)
    if text is not None and call.invocation.stdin.kind in ("text", "pipe", "file"):
        for line in text.splitlines():
            yield from redis_command(call, line.split(), place)
    elif call.invocation.stdin.kind in ("pipe", "file", "text"):
        yield call.effect(
            EffectKind.CODE_OPAQUE,
            certainty=Certainty.UNKNOWN,
            language="redis",
            reason="the commands come from elsewhere",
            source="stdin",
            dynamic="interpreter",
        )
    else:
        yield call.effect(EffectKind.DB_READ, engine="redis", target_env=place)


# ---------------------------------------------------------------- mongo

_MONGO = (
    (
        EffectKind.DB_DROP,
        re.compile(
            r"\.\s*(?:dropDatabase|drop|dropUser|dropAllUsers|dropRole|dropIndexes)\s*\(|dropDatabase\s*:|[\"']?\bdrop[\"']?\s*:\s*[\"']"
        ),
    ),
    (
        EffectKind.DB_DELETE_UNSCOPED,
        re.compile(
            r"\.\s*(?:deleteMany|remove|updateMany)\s*\(\s*(?:\{\s*\}|\))|\.deleteMany\s*\(\s*\{\s*_id\s*:\s*\{\s*\$exists\s*:\s*true"
        ),
    ),
    (
        EffectKind.DB_WRITE,
        re.compile(
            r"\.\s*(?:deleteMany|deleteOne|remove|updateMany|updateOne|update|replaceOne|insertOne|insertMany|insert|save|bulkWrite|findAndModify|findOneAnd\w+|"
            r"renameCollection|createUser|createRole|createCollection|createIndex|createIndexes|dropIndex|grantRolesToUser|updateUser|changeUserPassword|shutdownServer|"
            r"fsyncLock|setProfilingLevel|reIndex|initiate|reconfig|addShard|runCommand|adminCommand|copyTo|convertToCapped|killOp|mapReduce)\s*\(|\$out\b|\$merge\b"
        ),
    ),
)
_MONGO_READ_COMMAND = re.compile(
    r"(?:runCommand|adminCommand)\s*\(\s*[\"'{\s]*(?:ping|serverStatus|buildInfo|listDatabases|dbStats|collStats|isMaster|hello|hostInfo|connectionStatus|getParameter|replSetGetStatus)\b"
)


def mongo_script(call: Call, scene: Scene, text: str, server: dict[str, str]) -> Iterator[Effect]:
    """JavaScript for the mongo shell: the worst thing said about collections, and what its shell functions do here."""
    code = re.sub(r"//[^\n\"']*(?=\n|$)|/\*.*?\*/", " ", text, flags=re.DOTALL)
    bare = re.sub(r"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'", lambda m: m[0] if re.match(r"['\"]\$?\w+['\"]$", m[0]) else '""', code)
    common = {"engine": "mongo", "statement": " ".join(text.split())[:80], **server}
    for kind, pattern in _MONGO:
        match = pattern.search(bare)
        if match and not (kind is EffectKind.DB_WRITE and _MONGO_READ_COMMAND.search(code) and "Command" in match[0]):
            one = "one" if kind is EffectKind.DB_WRITE and re.search(r"(?:deleteOne|updateOne|replaceOne|insertOne)\s*\(", match[0]) else ""
            yield call.effect(kind, None, common, rows=one)
            break
    else:
        yield call.effect(EffectKind.DB_READ, None, common)
    from .other_code import code_effects

    yield from (effect for effect in code_effects(code, call, scene, "javascript") if effect.kind is not EffectKind.CODE_INLINE)


def mongo(call: Call, scene: Scene) -> Iterator[Effect]:
    """mongosh [URL|database] [file.js ...] [--eval CODE]."""
    operands = list(call.operands)
    where = spoken(call.value("--host", "--uri"))
    server = {"database": "", "target_env": where}
    if operands and not shown(operands[0]).endswith((".js", ".mongodb", ".mjs")):
        place = spoken(operands.pop(0))
        server = {
            "database": place.rsplit("/", 1)[-1].partition("?")[0] if "://" in place else place,
            "target_env": place if "://" in place or "$" in place else where,
        }
    spoke = False
    for option, field in call.values:
        if option in ("--eval", "-e"):
            spoke = True
            if field.text is None:
                yield call.effect(
                    EffectKind.CODE_OPAQUE, language="javascript", reason=field.reason, source="variable", dynamic="interpreter"
                )
            else:
                yield from mongo_script(call, scene, field.text, server)
        elif option in ("-f", "--file"):
            operands.append(field)
    for field in operands:
        spoke = True
        yield from _mongo_file(call, scene, field, server)
    if spoke:
        return
    call = as_program(call)
    text = stdin_text(call.invocation, scene)
    if text is not None and call.invocation.stdin.kind in ("text", "pipe", "file"):
        yield from mongo_script(call, scene, text, server)
    elif call.invocation.stdin.kind == "file" and call.invocation.stdin.field is not None:
        yield from _mongo_file(call, scene, call.invocation.stdin.field, server)
    elif call.invocation.stdin.kind in ("pipe", "text"):
        yield call.effect(
            EffectKind.CODE_OPAQUE, language="javascript", reason="the code comes through a pipe", source="stdin", dynamic="interpreter"
        )
    else:
        yield call.effect(EffectKind.DB_READ, None, server, engine="mongo")


def _mongo_file(call: Call, scene: Scene, field: Field, server: dict[str, str]) -> Iterator[Effect]:
    for effect in file_effects(call, scene, EffectKind.CODE_SCRIPT, field, language="mongo", engine="mongo", **server):
        yield effect
        text = scene.files.get(effect.target.text)
        if text is not None:
            yield from followed(mongo_script(call, scene, text, server), effect.target.text, scene)


# ---------------------------------------------------------------- key-value stores and search


def key_value(call: Call, scene: Scene) -> Iterator[Effect]:
    """etcdctl, consul kv, zkCli, influx, nats, kafka-topics: a verb and a key."""
    words = split(
        call.argv,
        "--endpoints --user --cacert --cert --key --bootstrap-server --zookeeper --topic --config -t --token --host -o "
        "--org -b --bucket --start --stop -s --server -p --predicate "
        "-n --node -execute --execute -database -host -port -username -password -q --query",
    )
    texts = [word.text or "" for word in words.words]
    joined = " ".join(texts)
    common = {
        "engine": call.name,
        "statement": joined[:80],
        "target_env": spoken(words.value("--endpoints", "--host", "--bootstrap-server", "-s", "--server")),
    }
    key = words.words[1] if len(words.words) > 1 else words.value("--topic", "-b", "--bucket")
    wide = words.has("--prefix", "--from-key", "-recurse", "--recursive", "--delete", "--delete-offsets") or any(
        t in ("bucket", "stream", "deleteall", "rmr") for t in texts
    )
    if call.name == "rabbitmqctl" and texts[:1] and texts[0] in ("reset", "force_reset", "delete_vhost", "delete_queue", "purge_queue"):
        yield call.effect(EffectKind.DB_DROP, thing(key), common)
        return
    sql = words.value("-execute", "--execute", "-q", "--query") if call.name == "influx" else None
    if sql is None and call.name == "influx" and texts[:1] == ["query"] and len(words.words) > 1:
        sql = words.words[1]
    lost = tuple(lost_rows(call, sql.text or sql.prefix, common["target_env"], "influx")) if sql is not None else ()
    if lost:
        yield from lost
        return
    if call.name == "influx" and texts[:1] == ["delete"] and words.value("-p", "--predicate") is None and not words.has("-h", "--help"):
        wide = True  # every series of the bucket, from start to stop
    if any(text in ("del", "delete", "rm", "rmr", "deleteall", "purge", "remove") for text in texts) or words.has("--delete"):
        yield call.effect(EffectKind.DB_DELETE_UNSCOPED if wide else EffectKind.DB_WRITE, thing(key), common, rows="" if wide else "one")
    elif any(
        text
        in ("put", "set", "create", "publish", "pub", "write", "update", "restore", "defrag", "compact", "alarm", "member", "user", "role")
        for text in texts
    ) or words.has("--create", "--alter"):
        yield call.effect(EffectKind.DB_WRITE, thing(key), common)
    elif texts:
        yield call.effect(EffectKind.DB_READ, thing(key), common)


def arango(call: Call, scene: Scene) -> Iterator[Effect]:
    """arangosh --javascript.execute-string CODE."""
    for word in call.argv:
        text = shown(word)
        if re.search(r"\b_drop(?:Database)?\s*\(|\.drop\s*\(", text):
            yield call.effect(EffectKind.DB_DROP, None, engine="arangodb", statement=text[:80])
        elif re.search(r"\.truncate\s*\(", text):
            yield call.effect(EffectKind.DB_DELETE_UNSCOPED, None, engine="arangodb", statement=text[:80])


def hadoop(call: Call, scene: Scene) -> Iterator[Effect]:
    """hdfs dfs -rm -r, hadoop fs -rm, hdfs namenode -format."""
    texts = [word.text or "" for word in call.argv]
    gone = next((text for text in texts if text in ("-rm", "-rmr", "-rmdir", "-expunge", "-format", "-deleteSnapshot", "-truncate")), "")
    if gone:
        yield call.effect(EffectKind.INFRA_DESTROY, thing(texts[-1]), tool=call.name, verb=gone, resource=texts[-1])
    elif set(texts) & {"-put", "-copyFromLocal", "-mv", "-cp", "-appendToFile", "-chmod", "-chown", "-setrep"}:
        yield call.effect(EffectKind.INFRA_APPLY, thing(texts[-1]), tool=call.name, verb=" ".join(texts[:2]), resource=texts[-1])


PROGRAMS: tuple[Program, ...] = (
    Program(
        ("memcflush", "memflush"),
        "--servers",
        when=(("", "db.delete_unscoped engine=memcached"),),
        harmless="--help -h --version -V",
        summary="empties a memcached",
    ),
    Program(
        ("couchbase-cli",),
        "-c --cluster -u --username -p --password --bucket",
        when=(("bucket-delete", "db.drop engine=couchbase"), ("bucket-flush", "db.delete_unscoped engine=couchbase")),
        summary="administers a Couchbase",
    ),
    Program(
        ("pulsar-admin",),
        "--admin-url",
        when=(("topics+delete tenants+delete namespaces+delete topics+delete-partitioned-topic", "db.drop engine=pulsar target=2"),),
        summary="administers a Pulsar",
    ),
    Program(
        ("kafka-delete-records", "kafka-delete-records.sh", "kafka-streams-application-reset"),
        "--bootstrap-server --offset-json-file --application-id --input-topics",
        when=(("", "db.delete_unscoped engine=kafka"),),
        harmless="--help --dry-run",
        summary="deletes records of topics",
    ),
    Program(
        ("pg_dropcluster",),
        when=(("", "db.drop engine=postgres target=1"),),
        harmless="--help",
        summary="drops a cluster of PostgreSQL",
    ),
    Program(("arangosh",), style="raw", describe=arango, summary="ArangoDB shell"),
    Program(("solr",), "-c -s -d -z -p", when=(("delete", "db.drop engine=solr"),), harmless="-help --help", summary="administers a Solr"),
    Program(("hdfs", "hadoop"), style="raw", describe=hadoop, summary="distributed files"),
    Program(
        ("redis-cli", "valkey-cli", "keydb-cli", "dragonfly-cli"),
        "-h -p -s -a -u -n -r -i -d --user --pass --eval --rdb --functions-rdb --pattern --cert --key --cacert -X --cluster",
        style="stop nohelp",
        describe=redis,
        summary="redis shell",
    ),
    Program(
        ("mongosh", "mongo", "mongocli-shell"),
        "--eval -e -f --file --host --port --uri -u --username -p --password --authenticationDatabase --tls --apiVersion",
        describe=mongo,
        summary="MongoDB shell",
    ),
    Program(
        (
            "etcdctl",
            "zkCli.sh",
            "zkcli",
            "influx",
            "nats",
            "kafka-topics",
            "kafka-topics.sh",
            "kafkactl",
            "kcat",
            "rabbitmqadmin",
            "rabbitmqctl",
        ),
        style="raw",
        describe=key_value,
        summary="key-value stores and queues",
    ),
)
