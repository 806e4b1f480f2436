"""Start one of the two programs: this checkout and its .venv join the import path, after the standard library, and nothing else does.

Called by `bin/instinct` and `bin/instinct-exec` with `-I -S`, so no environment variable, no user site and no `.pth` file has a say. What is said here
is compiled at each start, so it is little: `launching` says how a program starts.
"""

from _signal import SIG_DFL, SIGINT, default_int_handler, getsignal, signal

if getsignal(SIGINT) is default_int_handler:
    signal(SIGINT, SIG_DFL)  # before anything is judged ^C needs no words

import sys
from _frozen_importlib_external import SourceFileLoader  # `importlib` before it is imported, which takes its time

here = __file__
if not here.startswith("/") or "/." in here or "//" in here:
    import os

    here = os.path.abspath(here)
top = here.rpartition("/")[0].rpartition("/")[0]
sys.path += [f"{top}/.venv/lib/python{sys.version_info[0]}.{sys.version_info[1]}/site-packages", top]
name = "instinct_shell.frontends.launching"
start = {"__name__": name}
exec(SourceFileLoader(name, f"{top}/{name.replace('.', '/')}.py").get_code(name), start)  # noqa: S102  # as an import would, without its search
start["launch"](f"{top}/instinct_shell", sys.argv[1], sys.argv[2:])
