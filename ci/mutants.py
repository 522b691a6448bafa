# SPDX-License-Identifier: BSD-2-Clause
"""Mutants of the sources: which there are, and which are drawn.

A mutant is one token of a function or a table that became another, or one
statement that is left out. It is known by its file, the function or table it
is in, and its line before and after; the number of the line does not matter.
"""
import hashlib
import os
import re
import subprocess

# What is replaced by what; the sources have spaces around binary operators.
SWAPS = [(re.compile(pattern), to) for pattern, to in [
    (r" < ", " <= "), (r" <= ", " < "), (r" > ", " >= "), (r" >= ", " > "),
    (r" == ", " != "), (r" != ", " == "), (r" && ", " || "), (r" \|\| ", " && "),
    (r" \+ ", " - "), (r" - ", " + "), (r" \* ", " / "), (r" / ", " * "),
    (r" % ", " / "), (r" << ", " >> "), (r" >> ", " << "), (r" & ", " | "),
    (r" \| ", " & "), (r" \+= ", " -= "), (r" -= ", " += "),
    (r"\+\+", "--"), (r"--", "++"),
    (r"\breturn true;", "return false;"), (r"\breturn false;", "return true;"),
    (r"(?<=[( ])!(?=[a-z(])", ""), (r"(?<![\w.])0(?![\w.])", "1"),
    (r"(?<![\w.])1(?![\w.])", "2"),
]]
# A condition on one line is negated, unless another mutation already swaps it.
CONDITION = re.compile(r"\b(?:if|while) \((?!!\w+\))((?:(?! [=!]= ).)*|.* (?:&&|\|\|) .*)\)(?: \{)?$")
# A statement of one line that can be left out: an assignment or a call.
STATEMENT = re.compile(r"^\t+(?:[\w\->.\[\]*()&]+ [-+|&]?= [^;{]+|[a-z]\w*\([^;{]*\));$")
# What is no code, and what only says what holds anyway.
NO_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*"
    r'|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*#(?:[^\n\\]|\\.|\\\n)*"
    r"|\b(?:_Static_)?assert\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\);", re.S | re.M)
# The name on an unindented line that begins a function or a table.
NAME = re.compile(r"(\w+)(?:\(|(?:\[[^\]]*\])* =)")


def masked(text):
    """The same text with what is no code replaced by blanks."""
    return NO_CODE.sub(lambda m: re.sub(r"[^\n]", "\0", m.group()), text)


class Mutant:
    def __init__(self, path, line, old, new):
        self.path, self.line, self.old, self.new = path, line, old, new
        self.owner, self.begins, self.function, self.nth = "", 0, False, 1

    @property
    def module(self):
        """The folder below src/: modules within modules have a share of their own."""
        return os.path.dirname(self.path).partition("/")[2]

    def change(self):
        """The line before and after."""
        return self.old.strip(), "(left out)" if self.new.strip() == ";" else self.new.strip()

    def key(self):
        nth = " #%d" % self.nth if self.nth > 1 else ""
        return " | ".join((self.path, self.owner + nth) + self.change())

    def __str__(self):
        return "%s:%d: %s -> %s" % ((self.path, self.line) + self.change())


def changes(line, code):
    """Every line that one change makes of this one."""
    for pattern, to in SWAPS:
        for m in pattern.finditer(code):
            yield line[:m.start()] + to + line[m.end():]
    m = CONDITION.search(code)
    if m:
        yield line[:m.start(1)] + "!(" + line[m.start(1):m.end(1)] + ")" + line[m.end(1):]
    if STATEMENT.match(code) and "\0" not in code:
        yield re.match(r"\t+", line).group() + ";"


def mutants_of(root, path):
    with open(os.path.join(root, path)) as f:
        text = f.read()
    seen, owner, begins, function = {}, "", 0, False
    for number, (line, code) in enumerate(zip(text.split("\n"), masked(text).split("\n")), 1):
        if re.match(r"\w", code):
            name = NAME.search(code)
            owner, begins = name.group(1) if name else code.strip(" {"), number
            function = bool(name) and name.group().endswith("(")
        if not code.startswith("\t"):
            continue
        for new in changes(line, code):
            m = Mutant(path, number, line, new)
            m.owner, m.begins, m.function = owner, begins, function
            key = m.key()
            m.nth = seen[key] = seen.get(key, 0) + 1
            yield m


def sources(root):
    """The product's sources, without tests."""
    for folder, _, files in sorted(os.walk(os.path.join(root, "src"))):
        for name in sorted(files):
            if name.endswith((".c", ".h")) and not re.search(r"_test\.|_for_tests", name):
                yield os.path.relpath(os.path.join(folder, name), root)


def all_mutants(root):
    """By module."""
    found = {}
    for path in sources(root):
        for m in mutants_of(root, path):
            found.setdefault(m.module, []).append(m)
    return found


def changed_lines(root, commit):
    """Pairs (path, line) of the sources that differ from `commit`, those of
    files that git does not know yet included."""
    def git(*arguments):
        return subprocess.run(["git", "-C", root] + list(arguments), text=True, check=True,
                              stdout=subprocess.PIPE).stdout

    lines, path = set(), ""
    for line in git("diff", "-U0", "--no-ext-diff", "--no-color", commit, "--", "src").split("\n"):
        hunk = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if line.startswith("+++ "):
            path = line[len("+++ b/"):]
        elif hunk:
            first, n = int(hunk.group(1)), int(hunk.group(2) or 1)
            lines.update((path, number) for number in range(first, first + n))
    for path in git("ls-files", "-o", "--exclude-standard", "src").split():
        with open(os.path.join(root, path)) as f:
            lines.update((path, number) for number, _ in enumerate(f, 1))
    return lines


def draw(places, count, seed):
    """About `count` mutants, shared among modules by the square root of their
    size. A hash puts those of a module in an order, so that a change of a line
    changes what is drawn of that line, and hardly anything else."""
    weight = {module: len(found) ** 0.5 for module, found in places.items()}
    for module, found in sorted(places.items()):
        n = max(round(count * weight[module] / sum(weight.values())), 1)
        yield from sorted(found, key=lambda m: hashlib.sha256(
            ("%s %s" % (seed, m.key())).encode()).digest())[:n]
