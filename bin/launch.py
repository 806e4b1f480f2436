"""Start one of the two programs: this checkout and its .venv join the import path, after the standard library, and nothing else does.

Called by `bin/instinct` and `bin/instinct-exec` with `-I -S`, so no environment variable, no user site and no `.pth` file has a say. A start
lives for milliseconds: it collects no garbage (`check --batch` turns that on again) and does not take the interpreter down piece by piece.
"""

from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal

interruptible = getsignal(SIGINT) is default_int_handler
if interruptible:
    signal(SIGINT, SIG_DFL)  # before anything is judged ^C needs no words

import gc  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402

gc.disable()
top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path += [f"{top}/.venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages", top]
program, arguments = sys.argv[1], sys.argv[2:]
if program == "instinct-exec" or (program == "instinct" and arguments[:1] == ["check"]):
    from instinct_shell.resident.front import warm

    status = warm(program, arguments) if program == "instinct-exec" else warm("check", arguments[1:])
    if status is not None:
        os._exit(status)
if program == "instinct-exec":
    from instinct_shell.frontends.instinct_exec import main
else:
    from instinct_shell.frontends.cli.main import main
if interruptible:
    signal(SIGINT, default_int_handler)
os._exit(main(arguments))  # `main` has flushed what it wrote
