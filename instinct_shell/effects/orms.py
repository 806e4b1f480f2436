"""Frameworks' database verbs: migrations forward write, resets and drops destroy. One line a tool.

The same migration is fine in development and a disaster elsewhere, so each effect says where it points (`target_env`): a URL option or the
variables in front of the command, as far as they stand in the text.
"""

from __future__ import annotations

import re

from ..model.effect import Effect, EffectKind
from ..model.value import Value
from .call import Call, Program, Scene
from .infra import dry_run
from .output import stdin_text
from .verbs import Split, environment_text, shown, split, spoken, thing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..shell.invocation import Field


class Tool(Value):
    """Verbs of one tool, words joined by "+" when several must follow each other. drops lose data, writes change it; the rest is harmless."""

    drops: str = ""
    writes: str = ""
    options: str = ""


TOOLS: dict[str, Tool] = {
    "prisma": Tool(
        "migrate+reset", "migrate+deploy migrate+dev migrate+resolve db+push db+execute db+seed", "--schema --url --file --name --from-url"
    ),
    "rails": Tool(
        "db:drop db:drop:all db:reset db:migrate:reset db:schema:load db:structure:load db:purge db:purge:all "
        "db:truncate_all db:environment:set",
        "db:migrate db:rollback db:seed db:setup db:create db:prepare db:migrate:down db:migrate:redo db:fixtures:load db:seed:replant",
        "-e --environment",
    ),
    "django": Tool(
        "flush reset_db sqlflush-apply drop_test_database clean_db zero",
        "migrate loaddata createsuperuser changepassword remove_stale_contenttypes clearsessions createcachetable import",
        "--settings --database --pythonpath",
    ),
    "alembic": Tool("downgrade+base", "upgrade downgrade stamp", "-c --config -x -n --name"),
    "flask": Tool("db+downgrade+base", "db+upgrade db+downgrade db+stamp", "--app -A -e --env-file -d --directory"),
    "knex": Tool(
        "migrate:rollback+--all",
        "migrate:latest migrate:rollback migrate:up migrate:down seed:run migrate:unlock",
        "--knexfile --env --cwd --connection",
    ),
    "sequelize": Tool(
        "db:drop db:migrate:undo:all db:seed:undo:all",
        "db:migrate db:migrate:undo db:seed db:seed:all db:create db:seed:undo",
        "--env --url --config --to",
    ),
    "typeorm": Tool("schema:drop", "migration:run migration:revert schema:sync", "-d --dataSource -f --config"),
    "mikro-orm": Tool(
        "schema:drop schema:fresh migration:fresh database:drop",
        "schema:update migration:up migration:down schema:create seeder:run",
        "--config",
    ),
    "drizzle-kit": Tool("drop", "push migrate push:pg push:mysql push:sqlite", "--config --url"),
    "goose": Tool("reset down-to+0", "up down up-to down-to redo up-by-one", "-dir -table"),
    "migrate": Tool("drop", "up down goto force", "-path -source -database -timeout -lock-timeout"),
    "dbmate": Tool("drop", "up migrate rollback down create load", "-u --url -e --env -d --migrations-dir"),
    "flyway": Tool("clean undo-all", "migrate undo baseline repair", "-url -configFiles -locations"),
    "liquibase": Tool(
        "dropAll drop-all rollback-to-date+0",
        "update rollback rollback-count rollbackCount changelog-sync tag updateCount",
        "--url --changelog-file --changeLogFile --username --password",
    ),
    "artisan": Tool(
        "migrate:fresh migrate:reset migrate:refresh db:wipe",
        "migrate migrate:rollback db:seed migrate:install cache:clear-db queue:clear",
        "--database --path --env --seeder",
    ),
    "symfony-console": Tool(
        "doctrine:database:drop doctrine:schema:drop d:d:d d:s:d doctrine:fixtures:load doctrine:mongodb:schema:drop",
        "doctrine:migrations:migrate doctrine:schema:update doctrine:database:create d:m:m d:s:u",
        "--env -e --em --connection",
    ),
    "mix": Tool("ecto.drop ecto.reset", "ecto.migrate ecto.rollback ecto.create ecto.setup ecto.load run+priv/repo/seeds.exs", "-r --repo"),
    "diesel": Tool(
        "database+reset database+drop",
        "migration+run migration+revert migration+redo database+setup setup",
        "--database-url --config-file --migration-dir",
    ),
    "sqlx": Tool("database+drop database+reset", "migrate+run migrate+revert database+create database+setup", "-D --database-url --source"),
    "sea-orm-cli": Tool("migrate+fresh migrate+reset migrate+refresh", "migrate migrate+up migrate+down", "-u --database-url -d"),
    "sea": Tool("migrate+fresh migrate+reset", "migrate+up migrate+down"),
    "wp": Tool(
        "db+reset db+drop db+clean site+empty site+delete",
        "db+import search-replace db+optimize post+delete user+delete option+update plugin+install core+update",
        "--path --url",
    ),
    "drush": Tool(
        "sql-drop sql:drop sqld site-install site:install si",
        "updb updatedb cim config:import",
        "-r --root -l --uri --file --database --extra",
    ),
    "meteor": Tool("reset", "", ""),
    "dotnet-ef": Tool("database+drop", "database+update migrations+remove", "-p --project -s --startup-project --connection -c --context"),
    "gel": Tool(
        "database+wipe branch+drop branch+wipe instance+destroy database+drop",
        "migrate migration+apply restore query",
        "-I --instance -b --branch",
    ),
    "hasura": Tool(
        "migrate+delete metadata+clear", "migrate+apply metadata+apply seed+apply", "--endpoint --admin-secret --database-name --project"
    ),
    "strapi": Tool("transfer+--to", "import restore", ""),
    "directus": Tool("database+drop", "database+migrate:latest database+install schema+apply bootstrap", ""),
    "aerich": Tool("", "upgrade downgrade init-db", "-c --config --app"),
    "piccolo": Tool("migrations+backwards", "migrations+forwards fixtures+load", ""),
    "dbt": Tool(
        "",
        "run seed snapshot build run-operation",
        "--profiles-dir --project-dir --target -t --profile --select -s --models -m --vars --exclude",
    ),
    "sqlmesh": Tool("destroy", "apply plan migrate", ""),
    "airflow": Tool(
        "db+reset dags+delete", "db+migrate db+upgrade db+init db+clean db+downgrade tasks+clear connections+delete variables+delete", ""
    ),
    "superset": Tool("", "db+upgrade db+downgrade init", ""),
    "rake": Tool(
        "db:drop db:reset db:migrate:reset db:schema:load db:purge", "db:migrate db:rollback db:seed db:setup db:create", "-f -C -I -r"
    ),
    "lucid": Tool("db:wipe migration:fresh migration:reset", "migration:run migration:rollback db:seed", ""),
    "skeema": Tool("", "push", ""),
    "gh-ost": Tool("", "--execute", "--database --table --alter --host"),
    "pt-online-schema-change": Tool("", "--execute", "--alter"),
    "pt-archiver": Tool("--purge", "--source", ""),
    "rethinkdb": Tool("", "restore import", "-c"),
    "cypher-shell": Tool("", "", "-u -p -a -d -f --file"),
    "payload": Tool("migrate:fresh migrate:reset", "migrate migrate:down migrate:refresh", ""),
}


# Migrations and seeds of the project's own, as they are run all day on a developer's database. What a tool has for other places
# (`prisma migrate deploy`, `db push`) or what goes back is not among them.
FORWARD: dict[str, str] = {
    "prisma": "migrate+dev db+seed",
    "rails": "db:migrate db:seed db:setup db:create db:prepare",
    "rake": "db:migrate db:seed db:setup db:create",
    "django": "migrate createcachetable loaddata",
    "alembic": "upgrade",
    "flask": "db+upgrade",
    "knex": "migrate:latest migrate:up seed:run",
    "sequelize": "db:migrate db:seed db:seed:all db:create",
    "typeorm": "migration:run",
    "mikro-orm": "migration:up seeder:run",
    "drizzle-kit": "migrate",
    "goose": "up up-by-one",
    "migrate": "up",
    "dbmate": "up migrate create",
    "flyway": "migrate",
    "liquibase": "update",
    "artisan": "migrate db:seed migrate:install",
    "symfony-console": "doctrine:migrations:migrate doctrine:database:create d:m:m",
    "mix": "ecto.migrate ecto.create ecto.setup run+priv/repo/seeds.exs",
    "diesel": "migration+run database+setup setup",
    "sqlx": "migrate+run database+create database+setup",
    "sea-orm-cli": "migrate+up",
    "dotnet-ef": "database+update",
    "aerich": "upgrade init-db",
    "piccolo": "migrations+forwards",
    "dbt": "run seed snapshot build",
    "airflow": "db+init db+migrate",
    "lucid": "migration:run db:seed",
    "payload": "migrate",
    "hasura": "migrate+apply seed+apply",
}


# Verbs that hand SQL to the project's database: the statement says what they do.
SERVES: dict[str, tuple[str, ...]] = {
    "wp": ("db query",),
    "drush": ("sql-query", "sql:query", "sqlq"),
    "symfony-console": ("doctrine:query:sql", "dbal:run-sql"),
}


def apply_tool(call: Call, scene: Scene, name: str, argv: tuple[Field, ...] | None = None) -> Iterator[Effect]:
    """Effects of one tool's call; also for tools that are scripts of the project (manage.py, artisan)."""
    tool = TOOLS[name]
    words = split(call.argv if argv is None else argv, tool.options, long_single=name in ("goose", "migrate", "flyway", "liquibase"))
    if words.has("--help", "-h", "--sql", "--pretend", "--dump-sql", "--plan", "--check", "--show-sql") or dry_run(words):
        return
    texts = [*(word.text or "" for word in words.words), *words.flags, *(option for option, _ in words.values)]
    line = " ".join(word.text or "" for word in words.words)
    place = _place(call, scene, words.values)
    place = " ".join((place, *(text for text in texts if "=" in text and text.partition("=")[0].endswith("_ENV")))).strip()  # `rake x RAILS_ENV=test`
    kind = EffectKind.DB_DROP if _matches(tool.drops, texts) else EffectKind.DB_WRITE if _matches(tool.writes, texts) else None
    if name == "prisma" and words.has("--force-reset", "--accept-data-loss") and "push" in texts:
        kind = EffectKind.DB_DROP
    if name == "django" and "migrate" in texts and "zero" in texts:
        kind = EffectKind.DB_DROP
    if kind is not None:
        forward = "1" if kind is EffectKind.DB_WRITE and _matches(FORWARD.get(name, ""), texts) else ""
        yield call.effect(kind, thing(name), engine="orm", tool=name, statement=f"{name} {line}"[:80], target_env=place, forward=forward)
    for verb in SERVES.get(name, ()):
        if line == verb or line.startswith(f"{verb} "):
            yield from _served(call, scene, words, len(verb.split()), name, place)
    if name == "prisma" and texts[:2] == ["db", "execute"]:
        from .databases import Server, from_stdin, script

        server = Server("prisma", "", place)
        file = words.value("--file")
        yield from script(call, scene, file, server, "postgres") if file is not None else from_stdin(call, scene, server, "postgres")


def _served(call: Call, scene: Scene, words: Split, start: int, name: str, place: str) -> Iterator[Effect]:
    """The SQL that a framework's tool hands to the database of the project: a word, a file, or what comes in on stdin."""
    from .databases import Server, from_stdin, script, text_word

    server = Server("mysql", name, place)
    file = words.value("--file")
    for field in words.words[start : start + 1]:
        yield from text_word(call, scene, field, server, "mysql")
    if file is not None:
        yield from script(call, scene, file, server, "mysql")
    elif len(words.words) <= start and call.invocation.stdin.kind in ("text", "pipe", "file"):
        yield from from_stdin(call, scene, server, "mysql")


def _matches(verbs: str, texts: list[str]) -> bool:
    for verb in verbs.split():
        pieces = verb.split("+")
        if all(piece in texts for piece in pieces) and (
            texts[0] == pieces[0] or pieces[0].startswith("-") or ":" in pieces[0] or (len(pieces) == 1 and pieces[0] in texts[:4])
        ):
            return True
    return False


def _place(call: Call, scene: Scene, values: tuple[tuple[str, Field], ...]) -> str:
    """The text that says which database: a URL or environment option, else the variables set for this command."""
    for option, field in values:
        if option in (
            "--url",
            "-url",
            "-database",
            "--database-url",
            "-u",
            "-D",
            "--endpoint",
            "-e",
            "--env",
            "--environment",
            "--settings",
            "--target",
            "-t",
            "--connection",
        ):
            return spoken(field)
    return environment_text(call, scene)


def _cypher(call: Call, scene: Scene) -> Iterator[Effect]:
    """The statements of neo4j's shell, on its command line or on stdin."""
    words = split(call.argv, TOOLS["cypher-shell"].options)
    text = shown(words.words[-1]) if words.words else stdin_text(call.invocation, scene) or ""
    place = spoken(words.value("-a", "-d"))
    for statement in text.split(";"):
        lower = statement.lower()
        if re.search(r"\bdrop\s+(?:database|constraint|index)\b", lower):
            kind = EffectKind.DB_DROP
        elif re.search(r"\bdelete\b", lower):
            kind = EffectKind.DB_WRITE if re.search(r"\bwhere\b|\{\s*\w+\s*:", lower) else EffectKind.DB_DELETE_UNSCOPED
        elif re.search(r"\b(?:create|merge|set|remove|load csv)\b", lower):
            kind = EffectKind.DB_WRITE
        else:
            continue
        yield call.effect(kind, thing("neo4j"), engine="neo4j", statement=statement.strip()[:80], target_env=place)


def orm(call: Call, scene: Scene) -> Iterator[Effect]:
    """A framework's command line by its own name."""
    yield from apply_tool(
        call,
        scene,
        {
            "django-admin": "django",
            "sequelize-cli": "sequelize",
            "mikro-orm-esm": "mikro-orm",
            "edgedb": "gel",
            "node-pg-migrate": "migrate",
        }.get(call.name, call.name),
    )
    if call.name == "rake":
        from .program_text import code_word

        for at, word in enumerate(call.argv[:-1]):
            if word.text in ("-e", "--execute", "-E", "--execute-continue", "-p", "--execute-print"):
                yield from code_word(call, scene, call.argv[at + 1], "ruby")
    if call.name == "cypher-shell":
        yield from _cypher(call, scene)
    if call.name == "rails":
        words = split(call.argv, "-e --environment")
        if words.verb() in ("credentials:show", "secrets:show", "encrypted:show"):
            yield call.effect(EffectKind.SECRET_READ, thing(words.verb()), store="rails", prints="1")
        if words.verb() in ("runner", "r") and len(words.words) > 1:
            from .program_text import code_word

            yield from code_word(call, scene, words.words[1], "ruby")


PROGRAMS: tuple[Program, ...] = (
    Program(
        (
            *(name for name in TOOLS if name not in ("django", "artisan", "symfony-console", "mix")),
            "django-admin",
            "sequelize-cli",
            "mikro-orm-esm",
            "edgedb",
        ),
        style="raw",
        describe=orm,
        summary="database verbs of a framework",
    ),
)
