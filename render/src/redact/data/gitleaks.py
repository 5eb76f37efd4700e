#!/usr/bin/env python3
"""Renews gitleaks.tsv, the rules of gitleaks (MIT licence, gitleaks.LICENSE), and an example of each:

    gitleaks.py gitleaks.toml VERSION gitleaks.tsv tests/redact/corpus/gitleaks.txt

`config/gitleaks.toml` is part of each release of https://github.com/gitleaks/gitleaks. Not taken are rules for files
of certain names, which a log does not state, the rules for any name with `key` or `token` and for `curl -u`, which
`names.rs` and phrases.tsv replace, and those whose keywords are so short that most texts have them; tokens.tsv has
their shapes.
"""

import random
import re
import re._parser as parser
import sys
import tomllib

LEFT_OUT = {"generic-api-key", "jwt", "twilio-api-key", "curl-auth-user"}
# What stands before a value that is named: white space may follow, so it is no token.
NAMED = r"(?:[ \t\w.-]{0,20})"
# Words of letters and digits, of ASCII only, as gitleaks' engine reads them.
CLASSES = {r"\w": "0-9A-Za-z_", r"\s": r"\t\n\x0c\r ", r"\d": "0-9"}


def ascii_only(pattern):
    """The pattern with classes of ASCII, which take a fraction of the memory."""
    out, at, inside = "", 0, False
    while at < len(pattern):
        two = pattern[at : at + 2]
        if two[0] == "\\":
            wanted = CLASSES.get(two)
            out += (wanted if inside else f"[{wanted}]") if wanted else (r"(?-u:\b)" if two == r"\b" else two)
            at += 2
            continue
        if pattern.startswith("[:", at) and inside:
            end = pattern.index(":]", at) + 2
            out, at = out + pattern[at:end], end
            continue
        inside = two[0] == "[" or (inside and two[0] != "]")
        out, at = out + two[0], at + 1
    return out


def with_secret(pattern, group):
    """The pattern whose group with this number is named `s`."""
    number, at, inside = 0, 0, False
    while at < len(pattern):
        if pattern[at] == "\\":
            at += 2
            continue
        inside = pattern[at] == "[" or (inside and pattern[at] != "]")
        if pattern[at] == "(" and pattern[at + 1] != "?" and not inside:
            number += 1
            if number == group:
                return pattern[: at + 1] + "?P<s>" + pattern[at + 1 :]
        at += 1
    return pattern


LETTERS = "q8Zr2Xk7Lm4Tn9Vb3Wc6Yd1Ge5Hf0JpQRSxyzABCDEFghijKlMNoPstuUvwaO-_+/=. "


def example(tree, chance):
    """A text that the pattern matches."""
    out = ""
    for what, value in tree:
        name = str(what)
        if name == "LITERAL":
            out += chr(value)
        elif name in ("IN", "NOT_LITERAL", "ANY", "CATEGORY"):
            choices = [c for c in LETTERS if re.fullmatch(class_of(what, value), c)]
            out += chance.choice(choices) if choices else some_of(value)
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inner = value
            usual = least if most < parser.MAXREPEAT else least + 12
            out += "".join(example(inner, chance) for _ in range(usual))
        elif name == "SUBPATTERN":
            out += example(value[3], chance)
        elif name == "BRANCH":
            out += example(value[1][0], chance)
    return out


def some_of(values):
    """The first character of a class without letters."""
    kind, value = values[0]
    return chr(value if str(kind) == "LITERAL" else value[0]) if str(kind) != "CATEGORY" else " "


def class_of(what, value):
    """A class as a pattern of one character."""
    if str(what) == "ANY":
        return "."
    if str(what) == "NOT_LITERAL":
        return f"[^{re.escape(chr(value))}]"
    parts = ""
    for kind, inner in value:
        match str(kind):
            case "NEGATE":
                parts += "^"
            case "LITERAL":
                parts += re.escape(chr(inner))
            case "RANGE":
                parts += f"{re.escape(chr(inner[0]))}-{re.escape(chr(inner[1]))}"
            case "CATEGORY":
                parts += {"CATEGORY_DIGIT": r"\d", "CATEGORY_SPACE": r"\s", "CATEGORY_WORD": r"\w"}.get(str(inner), r"\S")
    return f"[{parts}]"


def python_of(pattern):
    """The pattern as Python reads it: flags at the beginning only."""
    pattern = re.sub(r"\[:alnum:\]", "a-zA-Z0-9", pattern).replace(r"\z", r"\Z")
    return re.sub(r"\(\?-?i\)|\(\?[-is]+(?=:)", lambda flags: "(?" if not flags[0].endswith(")") else "", pattern)


def marked(text, pattern, group):
    """An example in the notation of the corpus, with its secret marked, and broken so that no scanner takes it for a leak."""
    found = re.search(pattern, text, re.IGNORECASE)
    begin, end = found.span(min(group, found.re.groups))
    middle = min(begin + 2, end)
    parts = [text[:begin], "«", text[begin:middle], "{}", text[middle:end], "»", text[end:]]
    return "".join(parts).strip().replace("\n", "{n}")


def main():
    source, version, table, corpus = sys.argv[1:]
    rules = tomllib.load(open(source, "rb"))["rules"]
    rows, examples = [], []
    chance = random.Random(7)
    for rule in rules:
        pattern = rule.get("regex")
        keywords = [word.replace(" ", "·") for word in rule.get("keywords", []) if len(word) > 2]
        if not pattern or "path" in rule or rule["id"] in LEFT_OUT or not keywords:
            continue
        shape = "named" if NAMED in pattern else "token"
        words = rule["id"].replace("-", " ").replace("api", "API").replace("personnal", "personal")
        written = with_secret(ascii_only(pattern), rule.get("secretGroup", 1))
        entropy = f"{rule.get('entropy', 0):g}"
        rows.append("\t".join([rule["id"], words, " ".join(keywords), written, shape, entropy]))
        keyword = keywords[0]
        for _ in range(200):
            text = example(parser.parse(python_of(pattern)), chance)
            if re.search(python_of(pattern), text, re.IGNORECASE):
                break
        if keyword.replace("·", " ") not in text.lower():
            text = f"{keyword} {text}"
        examples.append(marked(text, python_of(pattern), rule.get("secretGroup", 1)))
    with open(table, "w") as out:
        out.write(
            f"# Rules of gitleaks {version}, MIT licence, Copyright (c) 2019 Zachary Rice; gitleaks.py renews them. Kind, words,\n"
            "# keywords, pattern, whether the secret is a token or is named, the least entropy in bits a character.\n"
        )
        out.writelines(row + "\n" for row in rows)
    with open(corpus, "w") as out:
        out.write("# An example of each rule of gitleaks; gitleaks.py writes them. `{}` is nothing, so that no scanner takes them for leaks.\n")
        out.writelines(text + "\n" for text in examples)


main()
