"""The assessments: environment, task alignment, impact, side effects. From shell text in the assumed world, on a host that says what the case says."""

from __future__ import annotations

import pytest
from judging import EmptyHost, judge_text, situation

from instinct_shell.model.verdict import Decision

ALLOW, ASK, DENY = Decision.ALLOW, Decision.ASK, Decision.DENY


def by(found, name):
    return [finding for finding in found.findings if finding.instinct == name]


# ---------------------------------------------------------------- environment


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        # the same migration, here and there
        ("DATABASE_URL=postgres://localhost/app_dev npx prisma migrate deploy", ALLOW),
        ("DATABASE_URL=postgres://eu-prod.example.com/app npx prisma migrate deploy", DENY),
        ("npx prisma migrate deploy", ASK),
        ("RAILS_ENV=test bin/rails db:migrate", ALLOW),
        ("RAILS_ENV=production rails db:migrate", DENY),
        ("export RAILS_ENV=production; rails db:migrate", DENY),
        ("alembic upgrade head", ALLOW),
        ("flyway -url=jdbc:postgresql://prod-db/app migrate", DENY),
        # one row, many rows, a schema
        ("psql app_prod -c 'DELETE FROM tokens WHERE id = 9'", ASK),
        ("psql app_dev -c 'DELETE FROM tokens WHERE id = 9'", ALLOW),
        ("psql -h prod-db app -c 'ALTER TABLE t ADD c int'", DENY),
        ("psql -h prod-db app -c 'SELECT 1'", ALLOW),
        ("mysql -h prod-db app < dump.sql", DENY),
        # handed to any program
        ('DATABASE_URL="$PROD_URL" node --test team.test.mjs', ASK),
        ('env DATABASE_URL="$PROD_URL" npm test', ASK),
        ("bash -c 'DATABASE_URL=$PROD_URL npm test'", ASK),
        ('export DATABASE_URL="$PROD_URL"; npm test', ASK),
        ("MONGODB_URI=mongodb://live-db.example.com/app ./seed", ASK),
        ("AWS_PROFILE=prod ./deploy-check", ASK),
        ('DATABASE_URL="$TEST_URL" node --test team.test.mjs', ALLOW),
        ("DATABASE_URL=postgres://localhost/app_test npm test", ALLOW),
        # harmless look-alikes
        ("NODE_ENV=production npm run build", ALLOW),
        ("RAILS_ENV=production bin/rails assets:precompile", ALLOW),
        ("ENV=prod make build", ALLOW),
        ("NODE_ENV=production node dist/server.js", ALLOW),
        ("VITE_API_URL=https://api.prod.example.com npm run build", ALLOW),
        ("API_URL=https://products.example.com npm test", ALLOW),
        ('echo "$PROD_URL" | cut -c1-8', ALLOW),
        ("DATABASE_URL=$PROD_URL printf '%s\\n' x", ALLOW),
        ("AWS_PROFILE=prod aws s3 ls", ALLOW),
        ("kubectl --context prod get pods", ALLOW),
        # production by context
        ("AWS_PROFILE=prod terraform apply", ASK),
        ("kubectl --context acme-prod apply -f x.yaml", ASK),
        ("git commit -m 'point DATABASE_URL at prod-db'", ALLOW),
    ],
)
def test_environment(dev, text, decision):
    found = judge_text(text, dev)
    assert found.decision is decision, found.reason


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("kubectl apply -f x.yaml", {"kube": "acme-prod eu"}),
        ("helm upgrade api ./chart", {"kube": "gke_acme-prod_europe_main"}),
        ("terraform apply", {"terraform": "prod"}),
        ("gcloud run deploy api --image x", {"gcloud": "default acme-prod"}),
    ],
)
def test_what_a_tool_has_selected(dev, text, places):
    assert by(judge_text(text, dev, EmptyHost(places=places)), "environment")
    assert not by(judge_text(text, dev, EmptyHost(places={"kube": "kind-dev", "terraform": "dev"})), "environment")


def test_a_named_context_wins_over_the_selected_one(dev):
    assert not by(judge_text("kubectl --context kind-dev apply -f x.yaml", dev, EmptyHost(places={"kube": "acme-prod"})), "environment")


@pytest.mark.parametrize(
    "text",
    [
        "kubectl config use-context acme-prod && kubectl apply -f x.yaml",
        "terraform workspace select prod && terraform apply",
        "terraform workspace select -or-create prod; terraform import a.b c",
    ],
)
def test_a_switch_in_the_same_line(dev, text):
    assert by(judge_text(text, dev), "environment")


def test_a_switch_alone_changes_nothing(dev):
    assert judge_text("terraform workspace select prod && terraform plan", dev).allow


def test_the_agents_own_variables(dev):
    env = {"DATABASE_URL": "postgres://app@db.internal/app_production"}
    assert judge_text("npx prisma migrate deploy", dev, env=env).decision is DENY
    assert judge_text("npm test", dev, env=env).decision is ALLOW


def test_a_password_is_not_repeated(dev):
    found = judge_text("DATABASE_URL=postgres://app:hunter2@prod-db/app npm test", dev)
    assert found.decision is ASK
    assert "hunter2" not in found.reason


# ---------------------------------------------------------------- task alignment

TASK = {"task": "mend the date parser", "task_paths": ("src/dates", "tests", "*.md"), "task_operations": ()}


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("sed -i s/a/b/ src/dates/parse.ts", True),
        ("touch tests/dates.test.ts", True),
        ("sed -i s/a/b/ README.md", True),
        ("cat src/app.ts | grep x", True),
        ("npm test", True),
        ("rm -rf build && mkdir -p build", True),
        ("echo x > /tmp/note", True),
        ("git add -A && git commit -m done", True),
        ("npm install left-pad", True),
        ("sed -i s/a/b/ src/app.ts", False),
        ("mv src/dates/parse.ts src/parse.ts", False),
        ("rm src/old.ts", False),
        ("cd src && touch other.ts", False),
        ("python3 -c 'open(\"src/app.ts\", \"w\").write(\"\")'", False),
    ],
)
def test_paths_of_a_task(dev, text, inside):
    found = by(judge_text(text, dev, where=situation(**TASK)), "task-alignment")
    assert bool(found) is not inside, found
    assert all("`mend the date parser`" in finding.reason and finding.decision is ASK for finding in found)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("sed -i s/a/b/ src/app.ts", True),
        ("rm src/old.ts", True),
        ("npm test", True),
        ("kubectl get pods", True),
        ("npm install left-pad", False),
        ("git branch -D old", False),
        ("kubectl apply -f x.yaml", False),
    ],
)
def test_operations_of_a_task(dev, text, inside):
    where = situation(task="tidy up src", task_operations=("file.*",))
    assert bool(by(judge_text(text, dev, where=where), "task-alignment")) is not inside


def test_a_lockfile_belongs_to_an_install_that_belongs_to_the_task(dev):
    where = situation(task="add left-pad", task_operations=("package.install",))
    assert not by(judge_text("npm install left-pad", dev, where=where), "task-alignment")


def test_no_task_nothing_outside(dev):
    assert not by(judge_text("npm install left-pad && rm src/old.ts", dev), "task-alignment")


def test_a_task_only_restricts(dev):
    where = situation(task="delete everything", task_operations=("*",))
    assert judge_text("rm -rf ~", dev, where=where).decision is DENY


# ---------------------------------------------------------------- impact and side effects


def test_the_blast_radius_is_counted(dev):
    host = EmptyHost(sizes={"/srv/work/app/docs": {"files": 12, "bytes": 30_000, "untracked": 2, "modified": 1}})
    found = judge_text("rm -r docs", dev, host)
    assert found.allow
    assert found.notes == ("deletes `docs` with 12 files (29.3 KB), 2 untracked and 1 modified, which git cannot give back",)


def test_tracked_and_clean_is_said_to_be_safe(dev):
    host = EmptyHost(sizes={"/srv/work/app/docs": {"files": 1, "bytes": 10, "untracked": 0, "modified": 0}})
    assert judge_text("rm -r docs", dev, host).notes == ("deletes `docs` with 1 file (10 bytes), all of it known to git",)


def test_more_than_undo_keeps_asks(dev):
    host = EmptyHost(sizes={"/srv/work/app/docs": {"files": 9_000, "bytes": 10**9, "untracked": 9_000, "modified": 0}})
    found = judge_text("rm -r docs", dev, host)
    assert found.decision is ASK
    assert "9000 files (953.7 MB), 9000 untracked" in found.reason


def test_what_a_pattern_matches_is_counted(dev):
    host = EmptyHost(globs={"/srv/work/app/docs/*.md": ["/srv/work/app/docs/a.md", "/srv/work/app/docs/b.md"]})
    assert judge_text("rm docs/*.md", dev, host).notes == ("deletes 2 names by `docs/*.md`",)


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        ("npm install lodash", ("installing `lodash` runs its install scripts", "changes the lockfile `package-lock.json`", "changes the manifest `package.json`")),
        ("npm ci", ("installing packages runs its install scripts",)),
        ("npm run dev &", ("leaves a process running",)),
        ("git status", ()),
    ],
)  # fmt: skip
def test_side_effects_are_said(dev, text, notes):
    found = judge_text(text, dev)
    assert found.allow
    assert all(any(note in said for said in found.notes) for note in notes), found.notes
    assert notes or not found.notes


# ---------------------------------------------------------------- the guard's own verbs, and every home


@pytest.mark.parametrize(
    ("text", "decision"),
    [
        ("instinct approve 7KQ4", DENY),
        ("instinct task clear", DENY),
        ("/usr/local/bin/instinct task --session x set 'anything goes'", DENY),
        ("env -i instinct budget set session none", DENY),
        ("instinct task show", ALLOW),
        ("instinct check -c 'rm -rf ~'", ALLOW),
        ("instinct audit list", ALLOW),
        ("instinct-exec --profile dev -- rm -rf ~", DENY),
        ("instinct-exec -c 'git status'", ALLOW),
    ],
)
def test_the_guards_own_verbs(dev, text, decision):
    assert judge_text(text, dev).decision is decision


def test_a_home_that_a_variable_hides_is_protected_too(dev):
    where = situation(home="/tmp/other", homes=("/tmp/other", "/home/real"))
    assert judge_text("rm -rf /home/real", dev, where=where).decision is DENY
    assert judge_text("cat /home/real/.ssh/id_ed25519", dev, where=where).decision is DENY
    assert judge_text("cat /home/dev/.ssh/id_ed25519", dev, where=where).decision is DENY
