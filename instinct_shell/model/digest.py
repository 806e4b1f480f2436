"""SHA-256 without OpenSSL: `import hashlib` loads libcrypto and costs ten times as much as the interpreter's own module."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # Python 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256  # Python 3.11
        except ImportError:
            from hashlib import sha256


def sha256_hex(data: bytes) -> str:
    """The digest as 64 lower-case hexadecimal digits."""
    return sha256(data).hexdigest()


def text_digest(text: str) -> str:
    """The digest of a text that may hold undecodable bytes (surrogateescape) or lone surrogates."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


__all__ = ["sha256", "sha256_hex", "text_digest"]
