"""Programs that run others, shells, scripts written in the same line, names that come from elsewhere: the inner command is what counts."""

from __future__ import annotations

import pytest
from effect_tables import assert_effects, effects_of


def lines(text: str) -> list[str]:
    """One command a line; ␤ stands for a newline inside one."""
    return [line.replace("␤", "\n") for line in text.strip().split("\n")]


HOME = "file.delete /home/dev recursive=1"

# Each wraps `rm -rf ~` another way.
WRAPPED = lines(r"""
env -i PATH=/bin rm -rf ~
env -u X A=1 rm -rf ~
env -S 'rm -rf /home/dev'
env -- rm -rf ~
FOO=1 rm -rf ~
nice -n 19 ionice -c 3 rm -rf ~
nice -19 rm -rf ~
nohup rm -rf ~ &
setsid -w rm -rf ~
timeout -k 5 10 rm -rf ~
timeout --signal=KILL 10 rm -rf ~
stdbuf -oL rm -rf ~
sudo rm -rf ~
sudo -E -u root rm -rf ~
sudo A=1 rm -rf ~
doas rm -rf ~
su -c 'rm -rf ~'
su root -c 'rm -rf ~'
sudo -s 'rm -rf ~'
runuser -u x -- rm -rf ~
command rm -rf ~
builtin command rm -rf ~
exec rm -rf ~
exec -a x rm -rf ~
busybox rm -rf ~
toybox rm -rf ~
busybox sh -c 'rm -rf ~'
time rm -rf ~
/usr/bin/time -f %e rm -rf ~
chrt -r 1 rm -rf ~
taskset 0x1 rm -rf ~
flock /tmp/l rm -rf ~
flock /tmp/l -c 'rm -rf ~'
unshare -r rm -rf ~
chroot / rm -rf /home/dev
nsenter -t 1 -m rm -rf ~
watch -n1 rm -rf ~
watch 'rm -rf ~'
script -q -c 'rm -rf ~' /dev/null
strace -f -o /tmp/t rm -rf ~
ltrace rm -rf ~
gdb -batch -ex 'shell rm -rf ~'
gdb --args rm -rf ~
systemd-run --user rm -rf ~
systemd-run --on-active=5 rm -rf ~
echo 'rm -rf ~' | at now
at now <<< 'rm -rf ~'
tmux new -d 'rm -rf ~'
screen -dm rm -rf ~
parallel rm -rf ::: ~
parallel 'rm -rf {}' ::: ~
parallel ::: 'rm -rf ~'
echo ~ | parallel rm -rf
echo ~ | xargs rm -rf
xargs rm -rf <<< ~
echo x | xargs -I{} rm -rf ~
echo ~ | xargs -I% sh -c 'rm -rf %'
printf '%s\0' ~ | xargs -0 rm -rf
find . -name app.ts -exec sh -c 'rm -rf ~' \;
find ~ -maxdepth 0 -exec rm -rf {} +
find . -exec rm -rf ~ \; -print
fd -x rm -rf ~
bash -c 'rm -rf ~'
bash -lc 'cd / && rm -rf home/dev'
sh -ec 'rm -rf ~'
bash --norc -o pipefail -c 'rm -rf ~'
bash -c -l 'rm -rf ~'
bash +x -c 'rm -rf ~'
bash -O extglob -c 'rm -rf ~'
bash -c 'bash -c "rm -rf ~"'
bash -c 'rm -rf "$1"' _ ~
bash -c '"$@"' _ rm -rf ~
bash <<< 'rm -rf ~'
bash -s <<< 'rm -rf ~'
bash <<'EOF'␤rm -rf ~␤EOF
bash -s x <<'EOF'␤rm -rf ~␤EOF
echo 'rm -rf ~' | sh
printf '\162\155 -rf ~' | sh
echo cm0gLXJmIH4= | base64 -d | sh
base64 -d <<< cm0gLXJmIH4= | bash
echo '~ fr- mr' | rev | sh
echo 'sn -sg ~' | tr sng rmf | sh
bash <(echo 'rm -rf ~')
source <(echo 'rm -rf ~')
bash /dev/stdin <<< 'rm -rf ~'
eval 'rm -rf ~'
eval rm -rf '~'
X='rm -rf ~'; eval $X
eval "$(echo rm -rf ~)"
trap 'rm -rf ~' EXIT
zsh -c 'rm -rf ~'
$(which rm) -rf ~
$(command -v rm) -rf ~
"$(echo rm)" -rf ~
$(printf rm) -rf ~
b=/bin; $b/rm -rf ~
"$UNKNOWN_DIR/bin/rm" -rf ~
/b?n/rm -rf ~
/bin/r[m] -rf ~
PROMPT_COMMAND='rm -rf ~' bash -i
vim -es -c '!rm -rf /home/dev' -c q
vim +'!rm -rf ~' +q
ex -c '!rm -rf ~' x
ed <<< '!rm -rf ~'
man -P 'rm -rf ~' ls
less +'!rm -rf ~' x
PAGER='rm -rf ~' man ls
zip -q x.zip README.md -T -TT 'rm -rf /home/dev #'
tar cf x.tar a --checkpoint=1 --checkpoint-action=exec='rm -rf ~'
tar cf x.tar -I 'rm -rf ~' a
tar xf a.tar --to-command='rm -rf ~'
rsync -e 'rm -rf ~' a h:
sort --compress-program='rm' a -o b; rm -rf ~
sed '1e rm -rf ~' x
sed 's/x/rm -rf ~/e' x
awk 'BEGIN{system("rm -rf ~")}'
awk 'BEGIN{"rm -rf ~" | getline x}'
awk '{print | "rm -rf ~"}' f
split --filter='rm -rf ~' a
emacs --batch --eval '(shell-command "rm -rf ~")'
dotenv -- rm -rf ~
cross-env A=1 rm -rf ~
coproc rm -rf ~
{ rm -rf ~; }
( rm -rf ~ )
! rm -rf ~
if true; then rm -rf ~; fi
f() { rm -rf "$1"; }; f ~
x=$(rm -rf ~)
cat <(rm -rf ~)
hyperfine 'rm -rf ~'
(crontab -l; echo '* * * * * rm -rf ~') | crontab -
complete -C 'rm -rf ~' x
find . -print0 | xargs -0 -I{} bash -c 'rm -rf ~'
xargs -a /dev/null rm -rf ~
eval "$(printf %s cm0gLXJmIH4= | base64 -d)"
awk -v c='rm -rf /home/dev' 'BEGIN{system(c)}'
awk 'BEGIN { cmd="rm -rf /home/dev"; system(cmd) }'
vim -c 'exe "!rm -rf ~"'
vim -c 'call system("rm -rf ~")'
zip --unzip-command='rm -rf ~' x a
strace -o '|rm -rf ~' ls
perf record -g -- rm -rf ~
su - root -c 'rm -rf ~'
sudo -i rm -rf ~
timeout 5s bash <<< 'rm -rf ~'
echo '-rf /home/dev' | xargs rm
sudo -- rm -rf ~
xargs -I{} sh -c '{}' <<< 'rm -rf ~'
mapfile -C 'rm -rf ~' x < f
GIT_PAGER='rm -rf ~' git log
RSYNC_RSH='rm -rf ~' rsync a h:
find . -type f -exec sh -c 'rm -rf /home/dev' sh {} +
sudo sh -c 'cd /home && rm -rf dev'
true && false || rm -rf ~
case x in x) rm -rf ~;; esac
select x in a; do rm -rf ~; break; done
until rm -rf ~; do :; done
[[ -d ~ ]] && rm -rf ~
(cd / && rm -rf home/dev)
echo a | while read l; do rm -rf ~; done
time -p rm -rf ~
""")


@pytest.mark.parametrize("text", WRAPPED)
def test_wrapped_delete_of_home_is_seen(text: str) -> None:
    assert any(e.kind.value == "file.delete" and e.target.text == "/home/dev" for e in effects_of(text)), text


# Look-alikes: nothing of the kind happens.
HARMLESS = lines(r"""
command -v rm
command -V rm
type rm
which rm
bash -n x.sh
env -S 'echo rm -rf /'
xargs -a list.txt -I{} echo rm {}
find . -name 'rm -rf'
sudo --version
sudo -l
time echo rm -rf ~
echo 'rm -rf ~'
printf 'rm -rf ~\n'
cat <<'EOF'␤rm -rf ~␤EOF
bash -c 'echo "rm -rf ~"'
timeout 10 echo rm -rf ~
parallel echo rm -rf ::: ~
git commit -m "$(echo rm -rf ~)"
trap '' EXIT
trap - EXIT
awk '/rm -rf/{c++} END{print c}' docs/a.md
sed -e '/rm -rf/d' a.md
watch -n1 date
f() { rm -rf ~; }
eval "$(ssh-agent -s)"
eval "$(direnv hook bash)"
LESSOPEN='| /usr/bin/lesspipe %s' less a.md
EDITOR=true git commit
history | grep 'rm -rf'
logger 'rm -rf ~'
man rm
bash --version
rm --help
rm --version
apropos 'rm -rf'
test rm = rm
set -- rm -rf ~
alias x='rm -rf ~'
""")


@pytest.mark.parametrize("text", HARMLESS)
def test_look_alikes_delete_nothing_and_hide_no_code(text: str) -> None:
    bad = [e for e in effects_of(text) if e.kind.value in ("file.delete", "code.opaque", "env.hijack")]
    assert not bad, (text, bad)


SCRIPTS = [
    ("echo 'rm -rf ~' > build/x.sh && bash build/x.sh", HOME),
    ("printf 'rm -rf ~\\n' > y.sh; chmod +x y.sh; ./y.sh", HOME),
    ("echo 'rm -rf ~' | tee z.sh; sh z.sh", HOME),
    ("cat > a.sh <<'EOF'\nrm -rf \"$1\"\nEOF\nbash a.sh ~", HOME),
    ("echo 'rm -rf ~' > a; cp a b.sh; bash b.sh", HOME),
    ("echo 'rm -rf ~' > a; mv a b.sh; . ./b.sh", HOME),
    ("echo 'rm -rf ~' > a; bash < a", HOME),
    ("echo 'rm -rf ~' > a; cat a | sh", HOME),
    ("echo cm0gLXJmIH4= > a; base64 -d a | sh", "code.opaque source=generated"),
    ("echo cm0gLXJmIH4= > a; base64 -d < a | sh", HOME),
    ("echo 'echo hi' > a.sh; echo 'rm -rf ~' >> a.sh; sh a.sh", HOME),
    ("echo 'echo hi' > a.sh; sh a.sh", "code.script ./a.sh written=1 readable=1; no file.delete"),
    ("bash scripts/build.sh --clean", "code.script ./scripts/build.sh; no code.opaque"),
    ("./scripts/build.sh", "code.script ./scripts/build.sh; no code.opaque"),
    ("bash < build/x.sh", "code.script ./build/x.sh"),
    ("source .env", "file.read ./.env; code.script ./.env"),
    (". venv/bin/activate", "code.script ./venv/bin/activate; no code.opaque"),
    ('bash -c "$(base64 -d build/p.b64)"', "code.opaque source=file"),
    ("gunzip -c build/s.gz | sh", "code.opaque source=file"),
    ('bash -c "$X"', "nothing"),
    ('bash -c "rm -rf $(cat f)/x"', "code.opaque; file.delete"),
    ('tool=$(head -n 1 t.txt); "$tool" --fix src', "code.opaque dynamic=command source=file"),
    ("cat x | bash", "code.script ./x"),
    ("enable -f ./x.so x", "env.hijack"),
    ("sed -i s/a/b/ x.py; python3 x.py", "code.script ./x.py; no code.opaque"),
    ("perl -pi -e 's/old/new/' x.sh && bash x.sh", "code.script ./x.sh; no code.opaque"),
    ("echo 'rm -rf ~' > b.sh; sed -i s/x/y/ b.sh; sh b.sh", HOME),
    ("sed -i 's/ok/rm -rf ~/' x.sh && bash x.sh", "code.opaque"),
    ("sed -i '1i rm -rf ~' x.sh; ./x.sh", "code.opaque"),
    ('rm -rf "$(cat build/target.txt)"', "file.delete dynamic=delete source=file"),
    ('rm -rf "build/$TARGET"', "file.delete ./build unset=TARGET"),
    ('rm -rf "$CACHE_HOME/app"', "file.delete /app unset=CACHE_HOME"),
    ('d=$(mktemp -d) && rm -rf "$d"', "file.delete bound=1"),
    ('d=$(mktemp -d) && rm -rf "$d/.."', "no file.delete bound=1"),
]

NAMES = [
    ("ls -A | grep '^.env' | xargs cat", "file.read . filter=?env*"),
    ("find . -name '.env*' -exec cat {} +", "file.read . filter=.env*"),
    ("find . -name '.env*' | xargs cat", "file.read . filter=.env*"),
    ("find . -name '.env*' -print0 | xargs -0 cat", "file.read . filter=.env*"),
    ("find . -name '*.pyc' | xargs rm", "file.delete . filter=*.pyc sweep=1"),
    ("find . -name '*.pyc' | sort | head | xargs rm -f", "file.delete . filter=*.pyc sweep=1"),
    ("find /foo -type f | xargs rm", "file.delete /foo sweep=1"),
    ("find ~ -type f | xargs rm -rf", "file.delete /home/dev sweep=1"),
    ('find ~ -type f | while read f; do rm "$f"; done', "file.delete /home/dev sweep=1"),
    ("for f in $(find . -name '*.pyc'); do rm $f; done", "file.delete . filter=*.pyc"),
    ("rm $(find . -name '*.pyc')", "file.delete . filter=*.pyc"),
    ("rm -rf `ls`", "file.delete . sweep=1"),
    ("git ls-files -o | xargs rm", "file.delete . sweep=1"),
    ("git ls-files '*.sh' | xargs -n1 bash -n", "nothing"),
    ("find . -type f -print0 | xargs -0 wc -l", "file.read . digest=1"),
    ("find . -name x -exec sh -c 'rm -rf \"$1\"' _ {} \\;", "file.delete . filter=x"),
    ("fd -e pyc -x rm", "file.delete . filter=*.pyc"),
    ("find . -name '*.log' -exec mv {} /tmp/old/ \\;", "file.move . filter=*.log"),
    ('ls /home/dev | while read -r f; do rm -rf "/home/dev/$f"; done', "file.delete /home/dev/"),
    ('for d in /home/*; do rm -rf "$d"; done', "file.delete /home/*"),
    ("xargs rm -rf < list.txt", "file.delete dynamic=delete"),
    ("grep -rl TODO src | xargs sed -i 's/a/b/'", "file.write ./src sweep=1"),
]


@pytest.mark.parametrize(("text", "expected"), [*SCRIPTS, *NAMES])
def test_effects(text: str, expected: str) -> None:
    assert_effects(text, expected)
