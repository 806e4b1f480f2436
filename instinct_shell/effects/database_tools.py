"""Dump, restore, create and drop: the tools beside the SQL shells."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from .call import Call, Scene
from .roles import file_effects
from .verbs import shown, spoken, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def dump(call: Call, scene: Scene) -> Iterator[Effect]:
    """pg_dump, mysqldump, mongodump ...: a read, and a file when one is named."""
    yield call.effect(
        EffectKind.DB_READ,
        thing(call.operands[0] if call.operands else None),
        engine=call.name,
        database=spoken(call.value("-d", "--dbname", "--db") or (call.operands[0] if call.operands else None)),
    )
    output = call.value("-f", "--file", "-r", "--result-file", "-o", "--out", "--archive")
    if output is not None and shown(output) != "-":
        yield from file_effects(call, scene, EffectKind.FILE_WRITE, output)


def restore(call: Call, scene: Scene) -> Iterator[Effect]:
    """pg_restore, mongorestore, mysqlimport: writes a database; --clean and --drop drop what is there first."""
    for field in call.operands:
        if call.name in ("pg_restore", "mongorestore", "mysqlimport", "mongoimport"):
            yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    if call.name == "pg_restore" and (call.has("-l", "--list") or call.value("-d", "--dbname") is None):
        output = call.value("-f", "--file")
        if output is not None and shown(output) != "-":
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, output)
        return
    drops = call.has("-c", "--clean", "--drop", "--if-exists", "-C", "--create")
    place = spoken(call.value("-h", "--host", "--uri"))
    database = call.value("-d", "--dbname", "--db")
    yield call.effect(
        EffectKind.DB_DROP if drops else EffectKind.DB_WRITE,
        thing(database),
        engine=call.name,
        database=spoken(database),
        target_env=place,
        statement="restore",
    )


def whole_database(call: Call, scene: Scene) -> Iterator[Effect]:
    """dropdb, createdb, dropuser, createuser, mysqladmin."""
    place = spoken(call.value("-h", "--host"))
    verb, name = call.name, call.operands[0] if call.operands else None
    if call.name in ("mysqladmin", "mariadb-admin"):
        verb = shown(name)
        name = call.operands[1] if len(call.operands) > 1 else None
        if verb in ("status", "ping", "version", "processlist", "variables", "extended-status", ""):
            yield call.effect(EffectKind.DB_READ, engine="mysql", target_env=place)
            return
    kind = EffectKind.DB_DROP if verb.startswith("drop") else EffectKind.DB_WRITE
    engine = "mysql" if "admin" in call.name else "postgres"
    yield call.effect(
        kind, thing(spoken(name)), engine=engine, database=spoken(name), target_env=place, statement=f"{verb} {spoken(name)}".strip()
    )
