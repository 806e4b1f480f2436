"""What a finding says of a command, and what it offers instead: of the same kind as what was asked for, and about the thing itself."""

from __future__ import annotations

import pytest
from judging import judge_text

# shell text, what the reason says, what the alternative says
SAID = (
    ("redis-cli FLUSHALL", "deletes every key of a database of `redis`", "name the keys"),
    ('mongosh --eval "db.users.deleteMany({})"', "every document of a database of `mongo`", "by a filter"),
    ('mongosh --eval "db.dropDatabase()"', "drops or empties a database of `mongo`", "a dump"),
    ('mongosh shop --eval "db.dropDatabase()"', "drops or empties `shop`", "a dump"),
    ("psql -c 'delete from users'", "changes or deletes every row of `users`", "WHERE"),
    ("aws s3 rm s3://b --recursive", "destroys `s3://b`", "`aws s3 ls s3://b`"),
    ("docker system prune -af", "destroys whatever `docker system prune` reaches", "`docker ps -a`"),
    ("npm publish", "publishes with `npm`", "`npm pack --dry-run`"),
    ("kill -9 $(lsof -ti :3000)", "kills every process that uses port `3000`", "`ps -ef`"),
    ("fuser -k 3000/tcp", "kills every process that uses port `3000`", "`ps -ef`"),
    ("pkill node", "kills every process named `node`", "`ps -ef`"),
    ("mv ~/.bashrc /tmp/", "moves away `~/.bashrc`", "leave it where it is"),
    ("rm ~/.bashrc", "deletes `~/.bashrc`", "such as `rm -rf ./build`"),
    ("chmod -R 777 /", "changes permissions or ownership of `/`, the whole system", "look first: `ls -la`"),
    ("dd if=/dev/zero of=/dev/vda", "overwrites `/dev/vda`, a device", "`lsblk`"),
    ("echo x > /etc/motd", "`/etc/motd`", "such as `mkdir -p build`"),
)


@pytest.mark.parametrize(("text", "reason", "alternative"), SAID, ids=[row[0] for row in SAID])
def test_words(dev, text: str, reason: str, alternative: str) -> None:
    found = judge_text(text, dev)
    assert reason in found.reason
    assert alternative in found.alternative
