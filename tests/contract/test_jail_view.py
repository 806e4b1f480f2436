"""The mounted file tree does what the plan says: a probe inside compares every path with `Plan.access`."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from pathlib import Path

import pytest
from jail_harness import Caller, made_caller, reachable

from instinct_shell.execution.jail.view import plan_for
from instinct_shell.model.jailspec import JailSpec

pytestmark = pytest.mark.jail

PROBE = """
for path do
    read=; write=
    [ -e "$path" ] || { echo "$path "; continue; }
    [ -d "$path" ] && { ls "$path" >/dev/null 2>&1 && read=r; (: > "$path/.probe") 2>/dev/null && { write=w; rm "$path/.probe"; }; } ||
        { [ "$(cat "$path" 2>/dev/null)" = content ] && read=r; (printf '' >> "$path") 2>/dev/null && write=w; }
    echo "$path $read$write"
done
"""


@pytest.fixture
def full(caller: Caller) -> Caller:
    reachable(caller, "full")
    return caller


@pytest.fixture
def tree(full: Caller) -> Path:
    """A workspace with everything that can be held, and things beside it."""
    top = full.folder()
    files = ("ws/plain", "ws/.env", "ws/a/b/held", "ws/a/b/free", "ws/a/free", "ws/key", "ws/vault/x", "ws/big/1", "ws/big/sub/2", "ws/big/out/3", "ws/real")
    for name in (*files, "beside/file", "beside/hidden/in/file", "beside/hidden/x"):
        path = top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("content", encoding="utf-8")
    (top / "ws/link").symlink_to("real")
    (top / "ws/folder-link").symlink_to("../beside")
    full.own(*top.rglob("*"))
    return top


def spec_of(top: Path, **more: object) -> dict[str, object]:
    workspace = top / "ws"
    held = [".env", "a/b/held", "big", "link", "folder-link", "absent", "absent/deep"]
    return {
        "workspace": str(workspace),
        "cwd": str(workspace),
        "writable": [str(workspace), str(workspace / "big/out"), str(top / "beside/hidden/in")],
        "protected": [str(workspace / name) for name in held],
        "masked": [str(workspace / "key"), str(workspace / "vault"), str(top / "beside/hidden"), str(top / "nowhere")],
        **more,
    }


@pytest.mark.parametrize("more", [{}, {"read_only": True}, {"private_tmp": True}], ids=["usual", "read-only", "private-tmp"])
def test_access_is_what_the_plan_says(full: Caller, tree: Path, more: dict[str, object]) -> None:
    data = spec_of(tree, **more)
    names = ("ws", "ws/plain", "ws/.env", "ws/a", "ws/a/b/held", "ws/a/b/free", "ws/a/b", "ws/key", "ws/vault", "ws/vault/x", "ws/big", "ws/big/1",
             "ws/big/sub/2", "ws/big/out/3", "ws/link", "ws/real", "beside/file", "beside/hidden/in/file", "beside/hidden/x", "nowhere")  # fmt: skip
    paths = [str(tree / name) for name in names] + ["/etc/hostname", "/dev/shm"]
    shutil.copy("/etc/hostname", tree / "beside")
    plan = plan_for(JailSpec(**{key: tuple(value) if isinstance(value, list) else value for key, value in data.items()}))
    run = full.run({**data, "argv": ["/bin/bash", "-c", PROBE, "probe", *paths]})
    seen = dict(line.rsplit(" ", 1) for line in run.out.decode().splitlines())
    expected = {path: plan.access(path) for path in paths if (tree / path).exists()}
    expected.pop("/etc/hostname")  # its content is the machine's
    expected["/dev/shm"] = "rw"  # private, and the jail's own
    hidden_with_a_way_in = str(tree / "beside/hidden")
    assert {path: seen[path] for path in expected if path != hidden_with_a_way_in} == expected


def test_moves_and_links_below_pins_stay_on_one_mount(full: Caller, tree: Path) -> None:
    """Protecting a file deep down must not turn renames around it into EXDEV."""
    text = """
    python3 - <<'PY'
import os
os.rename("plain", "a/b/plain"); os.rename("a/b/free", "free"); os.link("a/free", "a/b/twin"); os.mkdir("a/new"); os.rename("a/new", "a/b/new")
PY
    ls a/b"""
    run = full.run({**spec_of(tree), "argv": ["/bin/bash", "-c", text], "env": [["PATH", os.defpath]]})
    assert (run.status, run.out.split(), run.err) == (0, [b"held", b"new", b"plain", b"twin"], b"")


def test_nothing_is_left_on_the_host(full: Caller, tree: Path) -> None:
    before = sorted(str(path) for path in tree.rglob("*"))
    assert full.run({**spec_of(tree), "argv": ["/bin/true"]}).status == 0
    assert sorted(str(path) for path in tree.rglob("*")) == before


def test_a_protected_link_still_leads_where_it_led(full: Caller, tree: Path) -> None:
    run = full.run({**spec_of(tree), "argv": ["/bin/bash", "-c", "cat link; ls folder-link; readlink link"]})
    assert run.out.split() == [b"contentfile", b"hidden", b"real"]


def test_a_single_file_can_be_writable(full: Caller, tree: Path) -> None:
    spec = {**spec_of(tree), "writable": [str(tree / "beside/file")], "argv": ["/bin/bash", "-c", "echo more >> ../beside/file; echo x > ../beside/new"]}
    run = full.run(spec)
    assert (tree / "beside/file").read_text(encoding="utf-8") == "contentmore\n"
    assert b"Read-only file system" in run.err


@pytest.mark.parametrize("base", ["/dev/shm", "/tmp"])
def test_a_workspace_inside_a_private_folder(full: Caller, base: str) -> None:
    with tempfile.TemporaryDirectory(dir=base, prefix="instinct-ws-") as name:
        workspace = Path(name).resolve()
        workspace.chmod(0o755)
        full.own(workspace)
        beside = Path(base, f"instinct-beside-{os.getpid()}")
        beside.write_text("content", encoding="utf-8")
        run = full.shell(workspace, f"echo made > f; cat f; cat {beside} || echo hidden", spec={"private_tmp": True})
        beside.unlink()
        assert run.out == b"made\nhidden\n"
        assert (workspace / "f").read_text(encoding="utf-8") == "made\n"


def test_two_hundred_protected_files(full: Caller) -> None:
    workspace = full.folder()
    names = [f"d{number % 20}/e/{number}.env" for number in range(200)]
    for name in names:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("content", encoding="utf-8")
    full.own(*workspace.rglob("*"))
    held = {"protected": [str(workspace / name) for name in names]}
    run = full.shell(workspace, "for f in d*/e/*.env; do echo x >> $f; done; mv d1 d100; mv d2/e d2/f; cat d*/e/*.env | wc -c", spec=held)
    assert run.out == b"1400\n"


@pytest.mark.parametrize("private", ["/run", "/dev/shm"])
def test_private_folders_are_empty_and_vanish(full: Caller, private: str) -> None:
    run = full.shell(full.folder(), f"find {private} -type f -o -type s; echo mark > {private}/mark-of-the-jail; cat {private}/mark-of-the-jail")
    assert run.out == b"mark\n"
    assert not Path(private, "mark-of-the-jail").exists()


def test_private_tmp(full: Caller) -> None:
    with tempfile.NamedTemporaryFile(prefix="instinct-outside-") as outside:
        os.chmod(outside.name, 0o644)
        run = full.shell(full.folder(), f"test -e {outside.name} || echo hidden; mktemp -p /tmp | xargs ls", spec={"private_tmp": True})
    assert run.out.startswith(b"hidden\n/tmp/tmp.")
    assert not Path(run.out.split()[1].decode()).exists()


def test_sockets_under_odd_names_do_not_stop_a_run(full: Caller) -> None:
    """Bound through a descriptor, through a link, or removed since: each is masked where it really is, or is none."""
    top = full.folder()
    (top / "real").mkdir()
    (top / "link").symlink_to("real")
    folder = os.open(top / "real", os.O_RDONLY | os.O_DIRECTORY)
    with socket.socket(socket.AF_UNIX) as odd, socket.socket(socket.AF_UNIX) as linked, socket.socket(socket.AF_UNIX) as gone:
        odd.bind(f"/proc/self/fd/{folder}/odd")
        linked.bind(str(top / "link/linked"))
        gone.bind(str(top / "gone"))
        (top / "gone").unlink()
        linked.listen()
        full.own(top / "real/linked")
        workspace = full.folder()
        code = f"import socket; socket.socket(socket.AF_UNIX).connect({str(top / 'link/linked')!r})"
        run = full.run({**spec_like(workspace), "argv": [full.python, "-I", "-S", "-c", code]})
    os.close(folder)
    assert run.result.get("started"), run
    assert b"PermissionError" in run.err or b"ConnectionRefused" in run.err, run


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make another user's folder")
@pytest.mark.parametrize("at", ["full", "bubblewrap"])
def test_a_socket_in_another_users_private_folder_does_not_stop_root(at: str) -> None:
    """Root sees it from outside, and has no right over it in the jail: there is nothing to mask, and no way there."""
    made = made_caller("root")
    root = next(made)
    reachable(root, at)
    top = Path(tempfile.mkdtemp(prefix="instinct-other-"))
    try:
        with socket.socket(socket.AF_UNIX) as theirs:
            theirs.bind(str(top / "socket"))
            theirs.listen()
            os.chown(top, 65534, 65534)
            code = f"import socket; socket.socket(socket.AF_UNIX).connect({str(top / 'socket')!r})"
            run = root.run({**spec_like(root.folder()), "argv": [root.python, "-I", "-S", "-c", code]}, at=at)
    finally:
        shutil.rmtree(top)
        made.close()
    assert run.result.get("started"), run
    assert b"PermissionError" in run.err, run


PASSING_SOCKETS = """
import os, socket, sys
sys.path.insert(0, sys.argv[1])
from instinct_shell.execution.jail import mounts, namespaces, view
from instinct_shell.execution.plan_view import View
namespaces.enter(own_network=False)
mounts.keep_mounts_private()
by_plan = View.__new__(View)
by_plan._void = -1
for name in sys.argv[2:]:
    view._close_socket(name, view._Void())
    by_plan._close_socket(name.encode())
    try:
        socket.socket(socket.AF_UNIX).connect(name)
        print("connected")
    except OSError as problem:
        print(type(problem).__name__)
"""


def test_sockets_that_come_and_go_do_not_stop_a_run(full: Caller) -> None:
    """Seen when the jail was planned; by the time of the mounts the name is gone, leads nowhere, or leads elsewhere."""
    top = full.folder()
    (top / "real").mkdir()
    (top / "swapped").symlink_to("real")
    (top / "file").touch()
    with socket.socket(socket.AF_UNIX) as there:
        there.bind(str(top / "real/there"))
        there.listen()
        full.own(top / "real/there")
        names = [str(top / name) for name in ("gone", "gone/too", "file/below", "swapped/there", "real/there")]
        run = full.plain([full.python, "-I", "-S", "-c", PASSING_SOCKETS, str(full.code), *names])
    said = run.stdout.decode().split()
    assert said[:3] == ["FileNotFoundError", "FileNotFoundError", "NotADirectoryError"], run
    assert said[3:] == ["connected", "ConnectionRefusedError"], run  # not by its way around, but where it is


def test_processes_outside_are_not_seen(full: Caller) -> None:
    run = full.shell(full.folder(), "ls -d /proc/[0-9]* | wc -l; hostname > /dev/null; echo $$")
    assert int(run.out.split()[0]) <= 4


def test_loopback_works_without_network(full: Caller) -> None:
    code = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()); print(len(socket.if_nameindex()))"
    run = full.run({**spec_like(full.folder()), "network": "none", "argv": [full.python, "-I", "-S", "-c", code]})
    assert (run.status, run.out) == (0, b"1\n"), run


def spec_like(workspace: Path) -> dict[str, object]:
    return {"workspace": str(workspace), "cwd": str(workspace), "writable": [str(workspace)]}


@pytest.fixture
def sound(caller: Caller) -> Path:
    return caller.folder()


BAD_SPECS = [
    ("a writable folder that is gone", {"writable": ["{ws}/gone"]}, "gone"),
    ("everything writable", {"writable": ["/"]}, "`/` cannot be writable"),
    ("a relative path", {"protected": ["x/y"]}, "x/y"),
    ("a path that is not normal", {"masked": ["{ws}/../y"]}, "not an absolute, normal path"),
    ("a working folder that is gone", {"cwd": "{ws}/gone"}, "gone"),
    ("a working folder that is masked", {"cwd": "{ws}/sub", "masked": ["{ws}/sub"]}, "not the folder that was judged"),
    ("a program that is gone", {"argv": ["/no/such/program"]}, "/no/such/program"),
    ("a program that cannot run", {"argv": ["/etc/passwd"]}, "/etc/passwd"),
    ("a writable folder that is a link now", {"writable": ["{ws}/link"]}, "link"),
]


@pytest.mark.parametrize(("change", "named"), [case[1:] for case in BAD_SPECS], ids=[case[0] for case in BAD_SPECS])
def test_nothing_runs_when_a_step_fails(full: Caller, sound: Path, change: dict[str, object], named: str) -> None:
    (sound / "sub").mkdir()
    (sound / "link").symlink_to("sub")
    full.own(sound / "sub")

    def fill(value: object) -> object:
        return [fill(one) for one in value] if isinstance(value, list) else str(value).replace("{ws}", str(sound))

    spec = {**spec_like(sound), "argv": ["/usr/bin/touch", str(sound / "ran")], **{key: fill(value) for key, value in change.items()}}
    run = full.run(spec)
    assert (run.status, run.result["started"]) == (125, False)
    assert named in str(run.result["error"]), run
    assert b"Traceback" not in run.err
    assert not (sound / "ran").exists()
