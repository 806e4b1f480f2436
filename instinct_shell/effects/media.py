"""Converters of documents, images, sound and video: they read what they are given and write what they are told to make."""

from __future__ import annotations

from ..model.effect import Effect, EffectKind
from .call import Call, Program, Scene
from .roles import file_effects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Options of ffmpeg that take no argument; every other one does.
_BARE = frozenset("-y -n -nostdin -hide_banner -vn -an -sn -dn -shortest -stats -nostats -copyts -report -h -L -version".split())


def ffmpeg(call: Call, scene: Scene) -> Iterator[Effect]:
    """ffmpeg: -i is read; words that are no option's argument are written."""
    at = 0
    argv = call.argv
    keep = "" if any(word.text == "-y" for word in argv) else "1"
    while at < len(argv):
        text = argv[at].text or argv[at].prefix
        if text == "-i" and at + 1 < len(argv):
            if "://" not in (argv[at + 1].text or ""):
                yield from file_effects(call, scene, EffectKind.FILE_READ, argv[at + 1])
            at += 2
        elif text.startswith("-") and len(text) > 1:
            at += 1 if text in _BARE else 2
        else:
            if text != "-" and "://" not in text:
                yield from file_effects(call, scene, EffectKind.FILE_WRITE, argv[at], noclobber=keep)
            at += 1


def magick(call: Call, scene: Scene) -> Iterator[Effect]:
    """ImageMagick: the last word is written, the ones before that are no options are read; mogrify rewrites in place."""
    words = [word for word in call.argv if (word.text or word.prefix or "x")[:1] not in "-+("]
    if call.name == "mogrify":
        for field in words[-1:]:
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field, in_place="1")
        return
    for field in words[:1] if len(words) > 1 else ():
        yield from file_effects(call, scene, EffectKind.FILE_READ, field)
    for field in words[-1:]:
        if (field.text or "") not in ("info:", "-", "x:") and call.name not in ("identify", "display"):
            yield from file_effects(call, scene, EffectKind.FILE_WRITE, field)


PROGRAMS: tuple[Program, ...] = (
    Program(("ffmpeg", "avconv"), style="raw", describe=ffmpeg, summary="converts sound and video"),
    Program(("convert", "magick", "mogrify", "composite", "montage", "gm"), style="raw", describe=magick, summary="converts images"),
    Program(
        ("pandoc", "asciidoctor", "rst2html", "markdown", "groff", "wkhtmltopdf", "weasyprint", "ps2pdf", "pdftk", "qpdf", "gs"),
        options="-o -f -t -r -w -s= -c -H -B -A -M -V --output --from --to --template --css --filter -F --metadata --variable -sOutputFile",
        roles="read",
        option_roles=(("-o", "write"), ("--output", "write")),
        summary="converts documents",
    ),
    Program(
        (
            "sox",
            "lame",
            "oggenc",
            "flac",
            "opusenc",
            "cwebp",
            "dwebp",
            "rsvg-convert",
            "inkscape",
            "heif-convert",
            "potrace",
            "dot",
            "neato",
            "mmdc",
            "plantuml",
        ),
        options="-o -b -r -c -q -T -f -w -h -i -e -K -G -N -E --output --export-filename --input --width --height",
        roles="read",
        option_roles=(("-o", "write"), ("--output", "write"), ("--export-filename", "write"), ("-i", "read"), ("--input", "read")),
        summary="converts sound, images or graphs",
    ),
    Program(
        ("optipng", "jpegoptim", "pngquant", "gifsicle", "pngcrush", "oxipng"),
        options="-o -d -m -q --dir --output --quality",
        roles="write",
        summary="shrinks images in place",
    ),
    Program(
        ("mpv", "vlc", "mplayer", "play", "aplay", "feh", "eog", "xdg-open", "open", "display", "evince", "zathura"),
        roles="read",
        summary="shows or plays files",
    ),
    Program(
        ("xclip", "xsel", "pbcopy", "pbpaste", "wl-copy", "wl-paste", "clip.exe"),
        options="-selection -sel -t -i= -o=",
        style="single",
        summary="the clipboard",
    ),
)
