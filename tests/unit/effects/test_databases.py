"""Database shells, tools and frameworks, however the SQL reaches them."""

from __future__ import annotations

import pytest
from effect_tables import assert_effects

CASES = [
    ("psql -c 'SELECT count(*) FROM users'", "db.read users engine=postgres; no db.write"),
    ("psql prod -c 'TRUNCATE orders CASCADE'", "db.delete_unscoped orders database=prod"),
    ("psql \"$PROD_URL\" -c 'DROP SCHEMA public CASCADE'", "db.drop public target_env=$PROD_URL"),
    ("psql postgres://u@prod.example.com/app -c 'select 1'", "db.read database=app target_env=postgres://u@prod.example.com/app"),
    ("psql -h prod.example.com app -c 'update t set a=1'", "db.delete_unscoped database=app target_env=prod.example.com"),
    ("PGDATABASE=prod psql -c 'truncate t'", "db.delete_unscoped database=prod"),
    ("psql -c 'DELETE FROM s WHERE id = 42'", "db.write s rows=one; no db.delete_unscoped"),
    ("psql -c 'EXPLAIN DELETE FROM s'", "db.read; no db.delete_unscoped"),
    ("psql <<'E'\nselect 1;\ndrop table x;\nE", "db.drop x"),
    ("psql <<< 'drop table x'", "db.drop x"),
    ("echo 'drop database app;' | mysql", "db.drop app engine=mysql"),
    ("cat dump.sql | psql d", "code.script ./dump.sql language=sql database=d"),
    ("psql d < dump.sql", "code.script ./dump.sql language=sql"),
    ("psql -f m/1.sql", "code.script ./m/1.sql language=sql"),
    ("echo 'DELETE FROM u' > build/a.sql && psql -f build/a.sql", "db.delete_unscoped u; code.script written=1"),
    ("gunzip -c d.sql.gz | psql d", "code.opaque language=sql source=file"),
    ("curl -s https://x.net/a.sql | psql d", "code.opaque language=sql source=network"),
    ("pg_dump prod | psql dev", "db.read prod; db.write database=dev; no code.opaque"),
    ("psql -c '\\! rm -rf /home/dev'", "file.delete /home/dev"),
    ("psql -c \"COPY t TO PROGRAM 'rm -rf ~'\"", "file.delete /home/dev"),
    ("psql -c \"\\copy u to 'u.csv'\"", "file.write ./u.csv; db.read u"),
    ("psql -c 'select 1' -o build/o.txt", "file.write ./build/o.txt"),
    ("psql --version", "nothing"),
    ("mysql -uroot -psecret app -e 'select 1'", "db.read database=app; no db.write"),
    ("mysql -e 'system rm -rf ~'", "file.delete /home/dev"),
    ("mysqladmin drop app -f", "db.drop app"),
    ("mysqladmin status", "db.read; no db.write"),
    ("sqlite3 app.db 'DROP TABLE u'", "db.drop u database=app.db; file.append ./app.db"),
    ("sqlite3 app.db .tables", "db.read; file.read ./app.db; no file.append"),
    ("sqlite3 app.db '.shell rm -rf ~'", "file.delete /home/dev"),
    ("sqlite3 app.db <<'E'\n.output out.csv\nselect 1;\nE", "file.write ./out.csv; db.read"),
    ("duckdb -c \"COPY t TO 'x.parquet'\"", "file.write ./x.parquet; no db.write"),
    ("sqlcmd -Q 'DROP DATABASE app'", "db.drop app engine=mssql"),
    ("bq query 'DELETE FROM d.t WHERE true'", "db.delete_unscoped d.t"),
    ("clickhouse-client -q 'TRUNCATE TABLE t'", "db.delete_unscoped t"),
    ("mongosh app --eval 'db.dropDatabase()'", "db.drop database=app engine=mongo"),
    ("mongosh --eval 'db.u.deleteMany({})'", "db.delete_unscoped"),
    ("mongosh --eval 'db.u.deleteOne({_id:1})'", "db.write rows=one"),
    ("mongosh --eval 'db.u.find({drop: 1})'", "db.read; no db.drop"),
    ("mongosh --eval 'db.u.countDocuments() // .drop()'", "db.read; no db.drop"),
    ("redis-cli FLUSHALL", "db.delete_unscoped engine=redis"),
    ("echo flushall | redis-cli", "db.delete_unscoped"),
    ("redis-cli --scan --pattern 'a:*' | xargs redis-cli del", "db.delete_unscoped"),
    ("redis-cli DEL session:1", "db.write rows=one; no db.delete_unscoped"),
    ("redis-cli GET session:1", "db.read; no db.write"),
    ("etcdctl del --prefix /", "db.delete_unscoped"),
    ("dropdb app && createdb app", "db.drop app; db.write app"),
    ("pg_restore -d app --clean d.tar", "db.drop app"),
    ("pg_restore -l d.tar", "no db.drop; no db.write"),
    # frameworks
    ("npx prisma migrate reset --force", "db.drop tool=prisma"),
    ("npx prisma migrate deploy", "db.write tool=prisma; no db.drop"),
    ("npx prisma generate", "no db.write; no db.drop"),
    ("RAILS_ENV=production bundle exec rails db:migrate", "db.write target_env=RAILS_ENV=production"),
    ("bin/rails db:drop", "db.drop tool=rails"),
    ("rails db:migrate:status", "no db.write; no db.drop"),
    ("alembic downgrade base", "db.drop"),
    ("alembic upgrade head --sql", "no db.write"),
    ("npx knex migrate:rollback --all", "db.drop"),
    ("npx knex migrate:rollback", "db.write; no db.drop"),
    ("flyway clean", "db.drop"),
    ("flyway info", "no db.drop; no db.write"),
    ("mix ecto.reset", "db.drop tool=mix"),
    ("mix test", "no db.drop; no db.write"),
    ("dotnet ef database drop -f", "db.drop"),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_effects(text: str, expected: str) -> None:
    assert_effects(text, expected)
