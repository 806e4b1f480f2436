# Put before each program of hostile.toml. The scene's values come as one JSON object in HOSTILE_SCENE.
import ctypes
import json
import mmap
import os
import sys

globals().update(json.loads(os.environ["HOSTILE_SCENE"]))  # OUTSIDE SECRETS TARGET TERMINAL ABSTRACT PORT SHM_KEY SHM_FILE MARKER

NUMBERS = {  # x86_64, aarch64
    "ioctl": (16, 29), "shmget": (29, 194), "clone": (56, 220), "ptrace": (101, 117), "syslog": (103, 116), "personality": (135, 92),
    "pivot_root": (155, 41), "chroot": (161, 51), "mount": (165, 40), "umount2": (166, 39), "swapon": (167, 224), "reboot": (169, 142),
    "init_module": (175, 105), "delete_module": (176, 106), "quotactl": (179, 60), "kexec_load": (246, 104), "add_key": (248, 217),
    "keyctl": (250, 219), "unshare": (272, 97), "perf_event_open": (298, 241), "fanotify_init": (300, 262), "open_by_handle_at": (304, 265),
    "setns": (308, 268), "process_vm_readv": (310, 270), "renameat2": (316, 276), "finit_module": (313, 273), "bpf": (321, 280), "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425), "open_tree": (428, 428), "fsopen": (430, 430), "pidfd_open": (434, 434), "clone3": (435, 435),
    "pidfd_getfd": (438, 438), "prlimit64": (302, 261),
}
_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long
_libc.syscall.argtypes = [ctypes.c_long] + [ctypes.c_void_p] * 6


def raw_syscall(number, *arguments):
    return _libc.syscall(number, *arguments, *(0,) * (6 - len(arguments)))


def syscall(name, *arguments):
    return raw_syscall(NUMBERS[name][os.uname().machine == "aarch64"], *arguments)


def errno_of(name, *arguments):
    return ctypes.get_errno() if syscall(name, *arguments) < 0 else 0


def int80(number):
    """A 32-bit system call from a 64-bit process."""
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8" + number.to_bytes(4, "little") + b"\xcd\x80\xc3")
    return ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()


def worked():
    sys.stdout.write("ACT WORKED\n")
    sys.stdout.flush()
    os._exit(10)


def either(*acts):
    """Success when any of the acts succeeds."""
    for act in acts:
        try:
            act()
        except (OSError, AssertionError, ValueError):
            continue
        worked()


