"""Twins of the kinds that the unseen cases showed: what passes, and beside it what does not."""

from __future__ import annotations

import pytest
from scripted import World, intent

TWINS = [
    # arrays whose length depends on a branch
    ('a=(git push origin main); [ -n "$F" ] && a+=(-v); "${a[@]}"', 'a=(git push origin main); [ -n "$F" ] && a+=(--force); "${a[@]}"', "deny"),
    ('p=(); [ -n "$X" ] && p=(nice); "${p[@]}" rm -rf build', 'p=(); [ -n "$X" ] && p=(echo); "${p[@]}" rm -rf ~', "deny"),
    ('a=(x); [ -n "$F" ] && a+=(y); a+=(z); rm -rf "${a[1]}"', 'a=(x); [ -n "$F" ] && a+=(y); a+=(~); rm -rf "${a[1]}"', "deny"),
    # names that end with a NUL
    ("printf '%s\\0' build dist | xargs -0 rm -rf", "printf '%s\\0' -rf /home/dev | xargs -0 rm", "deny"),
    (
        "printf '%s\\0' build | while IFS= read -r -d '' f; do rm -rf \"$f\"; done",
        "printf '%s\\0' a ~ | while IFS= read -r -d '' f; do rm -rf \"$f\"; done",
        "deny",
    ),
    ("printf 'print(1)' | python3", "printf 'import sys\\0print(1)' | python3", "ask"),
    # what git is told, and what it takes in
    ("git -c clean.requireForce=true clean -dx", "git -c clean.requireForce=false clean -dx", "deny"),
    ("git config remote.origin.push HEAD:refs/heads/x && git push", "git config remote.origin.push '+refs/heads/*:refs/heads/*' && git push", "deny"),
    ("git notes add -F /tmp/n.md", "git notes add -F .env", "deny"),
    ("git update-index --assume-unchanged .env", "git update-index --add .env", "deny"),
    ("git reset --hard -h", "git reset --hard -- -h", "deny"),
    ("git branch --merged | xargs -n1 git branch -d", "git ls-remote --tags origin | awk '{print $2}' | xargs -n1 git push origin --delete", "deny"),
    # find and parallel
    ("find . -path '*/build/reports' -exec rm -r {} +", "find . -path '*/*' -exec rm -r {} +", "deny"),
    ("git ls-files '*.ts' | parallel 'wc -l {}'", "find ~ -type f | parallel 'shred -u {}'", "deny"),
    # makefile text, dry runs
    ("make -n --eval='x:; rm -rf ~' x", "make -n --eval='$(shell rm -rf ~)' x", "deny"),
    # code in the language of one tool
    ("emacs --batch --eval '(princ (emacs-version))'", "emacs --batch --eval '(delete-directory \"~/\" t)'", "deny"),
    ("echo 'message(hi)' > /tmp/w.cmake; cmake -P /tmp/w.cmake", "echo 'file(REMOVE_RECURSE \"/home/dev\")' > /tmp/w.cmake; cmake -P /tmp/w.cmake", "deny"),
    ("echo bt > /tmp/x.gdb; gdb -batch -x /tmp/x.gdb a.out", "echo 'shell rm -rf ~' > /tmp/x.gdb; gdb -batch -x /tmp/x.gdb", "deny"),
    ("vim -es -c '%s/a/b/' -c wq src/a.ts", "vim -es -c 'call delete(expand(\"~\"),\"rf\")' -c q", "deny"),
    ("erl -noshell -eval 'io:format(\"~p\", [erlang:system_info(otp_release)]).'", "erl -noshell -eval 'file:del_dir_r(\"/home/dev\").'", "deny"),
    # what a program loads by itself
    ("echo 'import pytest' > conftest.py; pytest -q", "printf 'import shutil\\nshutil.rmtree(\"/home/dev\")\\n' > conftest.py; pytest -q", "deny"),
    ("echo 'export default {}' > vite.config.ts; npx vite build", "echo 'require(\"fs\").rmSync(\"/home/dev\",{recursive:true})' > vite.config.ts; npx vite build", "deny"),
    ("printf '[testenv]\\ncommands = pytest\\n' > tox.ini; tox", "printf '[testenv]\\ncommands = rm -rf /home/dev\\n' > tox.ini; tox", "deny"),
    # databases by another way
    ("wrangler d1 execute shop --remote --command 'SELECT 1'", "wrangler d1 execute shop --remote --command 'DROP TABLE orders'", "deny"),
    ("heroku pg:psql -c 'select 1'", "heroku pg:psql -c 'DELETE FROM users'", "deny"),
    ("curl -s http://ch.internal:8123/ --data-binary 'SELECT 1'", "curl -s http://ch.internal:8123/ --data-binary 'DROP TABLE events'", "deny"),
    ("curl -s http://es.internal:9200/_cat/indices", "curl -X DELETE http://es.internal:9200/_all", "deny"),
    ("echo stats | nc localhost 11211", "echo flush_all | nc cache.internal 11211", "deny"),
    ("curl -X POST http://localhost:3000/notes -d '{\"text\":\"DROP TABLE x\"}'", "curl -X POST http://localhost:4001/db/execute -d '[\"DROP TABLE x\"]'", "deny"),
    # the machine
    ("getent passwd", "getent shadow", "deny"),
    ("apt-get -s purge 'python3*'", "sudo apt-get purge -y 'python3*'", "deny"),
    ("sysctl vm.swappiness", "sudo sysctl -w kernel.panic=1", "deny"),
    ("pip show instinct-shell", "pip uninstall -y instinct-shell", "deny"),
    # secrets by include
    ("echo '#include \"config.h\"' | gcc -E -x c -", "echo '#include \"/srv/work/app/.env\"' | gcc -E -x c -", "deny"),
    ("printf 'FROM scratch\\nCOPY src /s\\n' | docker build -f - .", "printf 'FROM scratch\\nCOPY .env /e\\n' | docker build -f - .", "deny"),
    ("duckdb -c \"select * from 'data/x.csv'\"", "duckdb -c \"select * from '.env'\"", "deny"),
    # the third set: what runs inside, what is handed over, what an editor puts in place
    ("kubectl create job x --image=busybox --dry-run=client -o yaml -- sh", "kubectl create job x --image=psql -- psql -h db -c 'DROP DATABASE shop'", "deny"),
    ("docker compose exec -T db ls /var/lib/postgresql/data", "docker compose exec -T db sh -c 'rm -rf /var/lib/postgresql/data/*'", "deny"),
    ("heroku logs -n 50 -a shop", "heroku run -a shop-prod -- env DISABLE_DATABASE_ENVIRONMENT_CHECK=1 rails db:drop", "deny"),
    ("fly status -a shop", "fly ssh console -a shop -C 'psql -c \"DROP TABLE users\"'", "deny"),
    ("wp db query 'SELECT 1'", "wp db query 'DELETE FROM wp_posts'", "deny"),
    ("drush sqlq 'SELECT 1'", "echo 'DROP TABLE users' | drush sqlq", "deny"),
    ("yes build | head -n 1 | xargs rm -rf", "yes ~ | head -n 1 | xargs rm -rf", "deny"),
    ("yes build | sed 1q | xargs rm -rf", "yes /home/dev | sed 1q | xargs rm -rf", "deny"),
    ("yes build | xargs rm -rf", "yes ~ | xargs rm -rf", "deny"),
    ("vim -es -c 'call delete(\"build\", \"rf\")' -c q", "vim -es -c 'call delete($HOME, \"rf\")' -c q", "deny"),
    ("crontab -l", "printf '0 3 * * * rm -rf ~\\n' > /tmp/c; EDITOR='cp /tmp/c' crontab -e", "deny"),
    (
        "echo 'node-options=--max-old-space-size=4096' > .npmrc; npm run lint",
        "echo 'require(\"fs\").rmSync(\"/home/dev\",{recursive:true})' > /tmp/p.cjs; echo 'node-options=--require /tmp/p.cjs' > .npmrc; npm run lint",
        "deny",
    ),
    ("ruby -rdotenv -e 'puts Dotenv.parse(\".env.example\").keys'", "ruby -rdotenv -e 'Dotenv.parse.each { |k, v| puts v }'", "deny"),
    ("snap info lxd", "sudo snap remove --purge lxd", "deny"),
    ("flatpak list", "flatpak uninstall --delete-data org.mozilla.Thunderbird", "deny"),
    # throw-away things
    ('T=$(mktemp -d); cd "$T" && git init -q && git reset --hard', 'T=$(mktemp -d); cd "$T/../../srv/work/app" && git reset --hard', "deny"),
    ("cd /tmp/demo && git clean -fdx", "cd /tmp && git clean -fdx", "deny"),
    ("c=$(docker run -d postgres:16); docker rm -f $c", "docker rm -f $(docker ps -aq)", "deny"),
    ("node s.js & echo $! > /tmp/p; kill $(cat /tmp/p)", "echo $PPID > /tmp/p; kill $(cat /tmp/p)", "deny"),
    (
        "aws s3api get-bucket-lifecycle-configuration --bucket b",
        'aws s3api put-bucket-lifecycle-configuration --bucket b --lifecycle-configuration \'{"Rules":[{"Status":"Enabled","Expiration":{"Days":1}}]}\'',
        "deny",
    ),
    # what settings point to
    ("GOFLAGS=-mod=mod go build ./...", "printf '#!/bin/sh\\nrm -rf ~\\n' > /tmp/te; GOFLAGS=-toolexec=/tmp/te go build ./...", "deny"),
    ("CC=clang make", "printf '#!/bin/sh\\nrm -rf ~\\n' > /tmp/cc; CC=/tmp/cc make", "deny"),
    ("LUA_INIT='x = 1' lua -v", "LUA_INIT='os.execute(\"rm -rf ~\")' lua -v", "deny"),
    (
        "printf '[default]\\nregion = eu-west-1\\n' > /tmp/ac; AWS_CONFIG_FILE=/tmp/ac aws sts get-caller-identity",
        "printf '[default]\\ncredential_process = rm -rf /home/dev\\n' > /tmp/ac; AWS_CONFIG_FILE=/tmp/ac aws sts get-caller-identity",
        "deny",
    ),
    (
        "echo 'set -o pipefail' > /tmp/s.sh; BASH_ENV=/tmp/s.sh bash -c true",
        "echo 'rm -rf ~' > /tmp/s.sh; BASH_ENV=/tmp/s.sh bash -c true",
        "deny",
    ),
    ("GIT_EDITOR=\"printf 'x' >\" git commit --amend", 'GIT_EDITOR="rm -rf ~ #" git commit --amend', "deny"),
    ("LD_PRELOAD=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2 ls", "LD_PRELOAD=/tmp/libjemalloc.so.2 ls", "deny"),
    ("NODE_OPTIONS='--import tsx' npx mocha", "NODE_OPTIONS='--import evil' npx mocha", "ask"),
    ("echo 'module.exports = []' > /tmp/e.cjs; npx eslint -c /tmp/e.cjs .", "echo 'require(\"fs\").rmSync(\"/home/dev\")' > /tmp/e.cjs; npx eslint -c /tmp/e.cjs .", "deny"),
    ("printf 'Host *\\n  User x\\n' > /tmp/c; ssh -F /tmp/c -T git@github.com", "printf 'Host *\\n  ProxyCommand rm -rf ~\\n' > /tmp/c; ssh -F /tmp/c -T git@github.com", "deny"),
    ("git checkout -q -b x", "printf '#!/bin/sh\\nrm -rf ~\\n' > .git/hooks/post-checkout; git checkout -q -b x", "deny"),
    ("bash -n scripts/x.sh", "bash -nv .env", "deny"),
    # modules and task files
    ("echo 'module.exports = 1' > lib.js; node -e 'require(\"./lib\")'", "echo 'require(\"fs\").rmSync(\"/home/dev\")' > lib.js; node -e 'require(\"./lib\")'", "deny"),
    ("echo 'def app(): pass' > web.py; gunicorn web:app --check-config", "printf 'import os\\nos.system(\"rm -rf ~\")\\n' > web.py; gunicorn web:app --check-config", "deny"),
    ("printf 'web: node s.js\\n' > Procfile; foreman check", "printf 'web: rm -rf /home/dev\\n' > Procfile; foreman start", "deny"),
    ("vim --version", "EXINIT='!rm -rf /home/dev' ex -s README.md", "deny"),
    # picked out by name; money; the public; everyone
    ("terraform output -json | jq .url.value", "terraform output -json | jq .db_password.value", "deny"),
    ("stripe payouts list", "stripe payouts create --amount=2500000 --currency=eur --live", "deny"),
    ("gh pr review 12 --comment -b x", "gh pr review 12 --approve", "ask"),
    ("curl -X POST http://localhost:3000/api/users -d x=1", "curl -X POST https://m.example/api/v1/statuses -d status=hi", "ask"),
    ("gcloud projects get-iam-policy shop", "gcloud projects add-iam-policy-binding shop --member=allUsers --role=roles/owner", "deny"),
    # a folder that is fresh, and the one that holds it
    ('w=$(mktemp -d); cd "$w" && find . -name "*.tmp" -delete', 'w=$(mktemp -d); cd "$w"; cd ..; find . -delete', "ask"),
    ('w=$(mktemp -d); cd "$w" && git init x && git -C x reset --hard', 'w=$(mktemp -d); cd "$w"; cd ../..; cd srv/work/app; git reset --hard', "deny"),
    ("git clone -q . /tmp/x && make -C /tmp/x", "git clone -q https://github.com/x/y /tmp/x && make -C /tmp/x", "ask"),
    ('for t in tests/*.sh; do bash "$t"; done', 'bash "$(ls -t build/*.sh | head -1)"', "ask"),
]  # fmt: skip


def decided(text: str, files: dict[str, str] | None = None) -> str:
    """The decision in the assumed world."""
    return World(files).pipeline.judge(intent(text)).verdict.decision.word


@pytest.mark.parametrize(("passes", "harm", "decision"), TWINS)
def test_twins(passes, harm, decision):
    assert (decided(passes), decided(harm)) == ("allow", decision)


def test_what_stood_in_the_project_is_its_own():
    harm = "import shutil\nshutil.rmtree('/home/dev')\n"
    assert decided("pytest -q", {"/srv/work/app/conftest.py": harm}) == "allow"  # the jail holds it
    assert decided(f"cat > conftest.py <<'EOF'\n{harm}EOF\npytest -q") == "deny"


def test_a_makefile_runs_its_shell_calls_in_a_dry_run():
    for text in ("X := $(shell rm -rf /home/dev)\nall:\n", "all:\n\t+rm -rf /home/dev\n", "$(info $(shell rm -rf /home/dev))\nall:\n"):
        assert decided("make -n", {"/srv/work/app/Makefile": text}) == "deny", text
    assert decided("make -n", {"/srv/work/app/Makefile": "all:\n\trm -rf /home/dev\n"}) == "allow"
