"""Tools made to break into other machines, to flood them, or to mine: no build and no test needs them, so a person says whether this is wanted.

Scanners and sniffers that people use on their own networks (nmap, tcpdump) are not among them.
"""

from __future__ import annotations

from ..model.effect import Effect, EffectKind, Target, TargetKind
from .call import Call, Program, Scene
from .flow import named_secrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# What they do -> their names.
KINDS: dict[str, str] = {
    "guesses passwords": "hydra medusa ncrack patator crowbar brutespray thc-hydra kerbrute john hashcat ophcrack fcrackzip rarcrack",
    "breaks into other machines": "msfconsole msfvenom msfdb sqlmap commix wpscan xsser beef-xss routersploit setoolkit evil-winrm crackmapexec nxc netexec "
    "impacket-secretsdump impacket-psexec impacket-wmiexec impacket-smbexec impacket-ntlmrelayx secretsdump.py psexec.py wmiexec.py ntlmrelayx.py "
    "bloodhound-python powershell-empire sliver-client sliver-server havoc covenant nikto",
    "listens in on other machines": "responder mitm6 bettercap ettercap arpspoof dsniff urlsnarf sslstrip airmon-ng airodump-ng aireplay-ng aircrack-ng wifite "
    "reaver bully kismet",
    "scans the whole internet": "masscan zmap zgrab zgrab2",
    "looks for ways to become root": "linpeas linpeas.sh winpeas linenum.sh linux-exploit-suggester.sh les.sh pspy pspy64 unix-privesc-check",
}
FLOODS = "slowloris slowhttptest goldeneye hulk t50 torshammer xerxes loic hoic mhddos"
MINERS = "xmrig minerd cpuminer ccminer ethminer t-rex nbminer phoenixminer lolminer lolMiner xmr-stak cgminer bfgminer srbminer-multi teamredminer gminer"
_WHAT = {name: what for what, names in KINDS.items() for name in names.split()}
_WHAT |= dict.fromkeys(FLOODS.split(), "floods other machines") | dict.fromkeys(MINERS.split(), "mines")
_NEVER = frozenset((*FLOODS.split(), *MINERS.split()))
_LOOKS = ("--version", "-V", "--help", "--hh", "--show", "--benchmark", "-b", "--list", "--wizard", "--example-hashes", "--update")


def attacker(call: Call, scene: Scene) -> Iterator[Effect]:
    """Says what the tool is made for."""
    what = _WHAT[call.name]
    if not any(word.text in _LOOKS for word in call.argv):
        yield call.effect(EffectKind.PROCESS_SPAWN, Target(TargetKind.NAME, call.name), attack=what, never="1" if call.name in _NEVER else "")
    yield from named_secrets(call, scene)


def hping(call: Call, scene: Scene) -> Iterator[Effect]:  # the shape of a describer
    """hping3: a packet at a time it only asks, with --flood it floods."""
    flood = any(word.text == "--flood" for word in call.argv)
    yield call.effect(
        EffectKind.PROCESS_SPAWN if flood else EffectKind.NET_CONNECT,
        Target(TargetKind.NAME, call.name),
        attack="floods other machines" if flood else "",
        never="1" if flood else "",
    )


PROGRAMS: tuple[Program, ...] = (
    Program(tuple(_WHAT), style="raw", describe=attacker, summary="a tool made to attack other machines, or to mine"),
    Program(("hping3", "hping", "nping"), style="raw", describe=hping, summary="sends packets of one's own making"),
)
