"""What a sed script touches: files written by `w`, read by `r`, commands run by `e`. Everything else only edits the stream."""

from __future__ import annotations

from ..model.value import Value


class Touch(Value):
    """One thing a script does outside the stream. kind: "write" | "read" | "run" (text = the command) | "opaque" (runs what it reads)."""

    kind: str
    text: str


class _Reader:
    """Walks a script command by command. Over-reads rather than misses: a script that it cannot follow is scanned for what it may hold."""

    def __init__(self, script: str) -> None:
        self.text = script
        self.at = 0
        self.found: list[Touch] = []

    def run(self) -> list[Touch]:
        """All touches in order."""
        while self.skip(" \t\n;{}"):
            self.address()
            self.skip(" \t!")
            if self.at < len(self.text):
                self.command(self.take())
        return self.found

    def take(self) -> str:
        """The next character, "" at the end."""
        self.at += 1
        return self.text[self.at - 1 : self.at]

    def skip(self, characters: str) -> bool:
        """Moves past these characters; whether anything is left."""
        while self.at < len(self.text) and self.text[self.at] in characters:
            self.at += 1
        return self.at < len(self.text)

    def line(self) -> str:
        """The rest of the line."""
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        rest, self.at = self.text[self.at : end], end
        return rest.strip()

    def delimited(self, mark: str) -> str:
        """Text up to an unescaped mark."""
        out = []
        while self.at < len(self.text):
            character = self.take()
            if character == "\\":
                out.append(character + self.take())
            elif character == mark:
                break
            else:
                out.append(character)
        return "".join(out)

    def address(self) -> None:
        """Line numbers, `$`, /regex/, \\cREGEXc, ranges and steps."""
        while self.at < len(self.text):
            character = self.text[self.at]
            if character in "/\\":
                self.at += 1
                self.delimited(self.take() if character == "\\" else "/")
                self.skip("IM")
            elif character.isdigit() or character in "$,~+ \t":
                self.at += 1
            else:
                return

    def command(self, letter: str) -> None:
        """One command with its arguments."""
        if letter in "wWrRe":
            argument = self.line()
            kind = {"w": "write", "W": "write", "r": "read", "R": "read", "e": "run"}[letter]
            self.found.append(Touch(kind, argument) if argument else Touch("opaque", "the e command runs the line that was read"))
        elif letter == "s":
            self.substitute()
        elif letter == "y":
            mark = self.take()
            self.delimited(mark)
            self.delimited(mark)
        elif letter in "aic":
            while (line := self.line()).endswith("\\") and self.at < len(self.text):
                del line
                self.at += 1
        elif letter in "btT:#":
            if letter == "#":
                self.line()
            else:
                while self.at < len(self.text) and self.text[self.at] not in "\n;}":
                    self.at += 1

    def substitute(self) -> None:
        """s/regex/replacement/flags: the flags may write a file or run the result."""
        mark = self.take()
        self.delimited(mark)
        replacement = self.delimited(mark)
        while self.at < len(self.text) and self.text[self.at] not in "\n;} \t":
            flag = self.take()
            if flag == "w":
                self.found.append(Touch("write", self.line()))
            elif flag == "e":
                self.found.append(Touch("opaque", "s///e runs the line that results"))
                self.found.append(Touch("run", replacement.replace("\\&", "&")))


def touches(script: str) -> list[Touch]:
    """What the script does outside the stream."""
    return _Reader(script).run()
