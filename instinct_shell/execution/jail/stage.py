"""The first process in a jail that bubblewrap made: our attendant. usage: stage.py DESCRIPTOR (what bubblewrap.py wrote there, as JSON)."""

import json
import os
import sys

sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))))

from instinct_shell.execution.jail.confinement import Confinement  # the path comes first
from instinct_shell.execution.jail.descriptors import Handed
from instinct_shell.execution.jail.plan import Plan
from instinct_shell.model.codec import decode
from instinct_shell.model.jailspec import JailSpec


def main(descriptor: int) -> None:
    """Never returns."""
    with open(descriptor, encoding="ascii") as file:
        told = json.load(file)
    for fd, waiting in enumerate(told["standard"]):
        os.dup2(waiting, fd)
    handed = tuple(decode(Handed, one) for one in told["handed"])
    inner_ends = dict(told["inner_ends"])
    jailed = Confinement(
        decode(JailSpec, told["spec"]), decode(Plan, told["plan"]), handed, inner_ends, told["abi"], told["mask"],
        with_namespaces=True, supervisor=told["supervisor"], passage=told["passage"], lifeline=told["lifeline"],
    )  # fmt: skip
    jailed.take_over(told["report"], tuple(told["folder"]))


main(int(sys.argv[1]))
