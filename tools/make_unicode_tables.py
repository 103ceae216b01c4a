"""Writes src/core/text/unicode_data.inc: what CPython 3.11's str and re know of Unicode 14.

usage: make_unicode_tables.py >src/core/text/unicode_data.inc

Needs a Python whose unicodedata is 14.0 (3.11) and a Perl whose Unicode is 14.0 (5.36, Debian 12),
which knows Word_Break and Script where Python does not. The three character sets are those of the
FineWeb and spaCy sources.
"""

import re
import subprocess
import sys
import unicodedata

LAST = 0x110000

PUNCT = """0000-0008 000B-001F 0021-002F 003A-0040 005B-0060 007B-009F 00AB 00B4 00BB 2013-2014 2019 201C-201E
2026 2236 2501 25BA 3001-3002 3008-300D 3010-3011 FF01 FF05 FF08-FF09 FF0C FF0E FF11 FF1A-FF1B FF1F FF5E"""
TERMINAL = """0021 002E 003F 0589 061D-061F 06D4 0700-0702 07F9 0837 0839 083D-083E 0964-0965 104A-104B 1362
1367-1368 166E 1735-1736 17D4-17D6 17D9-17DA 1803 1809 1944-1945 1AA8-1AAB 1B5A-1B5B 1B5E-1B5F 1B7D-1B7E
1C3B-1C3C 1C7E-1C7F 203C-203D 2047-2049 2E2E 2E3C 2E53-2E54 3002 A4FF A60E-A60F A6F3 A6F7 A876-A877 A8CE-A8CF
A92F A9C8-A9C9 AA5D-AA5F AAF0-AAF1 ABEB FE52 FE56-FE57 FF01 FF0E FF1F FF61 10A56-10A57 10F55-10F59 10F86-10F89
11047-11048 110BE-110C1 11141-11143 111C5-111C6 111CD 111DE-111DF 11238-11239 1123B-1123C 112A9 1144B-1144C
115C2-115C3 115C9-115D7 11641-11642 1173C-1173E 11944 11946 11A42-11A43 11A9B-11A9C 11C41-11C42 11EF7-11EF8
11F43-11F44 16A6E-16A6F 16AF5 16B37-16B38 16B44 16E98 1BC9F 1DA88"""
NOT_SENTENCIZER = """061D-061E 0837 0839 083D-083E 17D4-17D6 17D9-17DA 1B7D-1B7E 2E53-2E54 10F55-10F59
10F86-10F89 11944 11946 11EF7-11EF8 11F43-11F44 16E98"""
LINE_BREAKS = "000A-000D 001C-001E 0085 2028-2029"

# Scripts that the built-in language detector tells apart, by ISO 15924; others are «Zyyy».
SCRIPTS = {
    "Latin": "Latn", "Greek": "Grek", "Cyrillic": "Cyrl", "Armenian": "Armn", "Hebrew": "Hebr", "Arabic": "Arab",
    "Devanagari": "Deva", "Bengali": "Beng", "Gurmukhi": "Guru", "Gujarati": "Gujr", "Oriya": "Orya",
    "Tamil": "Taml", "Telugu": "Telu", "Kannada": "Knda", "Malayalam": "Mlym", "Sinhala": "Sinh", "Thai": "Thai",
    "Lao": "Laoo", "Tibetan": "Tibt", "Myanmar": "Mymr", "Georgian": "Geor", "Ethiopic": "Ethi", "Khmer": "Khmr",
    "Mongolian": "Mong", "Hangul": "Hang", "Hiragana": "Hira", "Katakana": "Kana", "Han": "Hani",
}
WORD_BREAKS = [
    "Other", "CR", "LF", "Newline", "Extend", "ZWJ", "Regional_Indicator", "Format", "Katakana", "Hebrew_Letter",
    "ALetter", "Single_Quote", "Double_Quote", "MidNumLet", "MidLetter", "MidNum", "Numeric", "ExtendNumLet",
    "WSegSpace",
]


def code_points(text):
    found = set()
    for item in text.split():
        first, _, last = item.partition("-")
        found.update(range(int(first, 16), int(last or first, 16) + 1))
    return found


def runs(values):
    """[(first code point, value)] wherever the value changes."""
    found = []
    for code, value in enumerate(values):
        if not found or found[-1][1] != value:
            found.append((code, value))
    return found


def from_perl():
    """Per code point the names of Word_Break, Extended_Pictographic and Script, by perl's own tables."""
    program = """
use Unicode::UCD qw(prop_invmap);
print Unicode::UCD::UnicodeVersion(), "\\n";
for my $name ("Word_Break", "Extended_Pictographic", "Script") {
  my ($list, $map) = prop_invmap($name);
  print "$name $list->[$_] $map->[$_]\\n" for 0 .. $#$list;
}"""
    lines = subprocess.run(["perl", "-e", program], capture_output=True, text=True, check=True).stdout.splitlines()
    if lines[0] != "14.0.0":
        sys.exit(f"expected a Perl with Unicode 14.0.0 (5.36), got {lines[0]}")
    properties = {}
    for line in lines[1:]:
        name, start, value = line.split()
        properties.setdefault(name, []).append((int(start), value))
    for name, starts in properties.items():
        values = []
        for (start, value), (end, _) in zip(starts, starts[1:] + [(LAST, None)]):
            values += [value] * (min(end, LAST) - start)
        properties[name] = values
    return properties


def word_break(name, code):
    # Perl splits two classes for its own rules and widens WSegSpace to all horizontal space.
    name = {"ExtPict_XX": "Other", "ExtPict_LE": "ALetter"}.get(name, name)
    if name != "Perl_Tailored_HSpace":
        return name
    if code == 0x202F:
        return "ExtendNumLet"
    return "Other" if code in (0x09, 0xA0, 0x180E, 0x2007) else "WSegSpace"


def is_cased(char):  # CPython decides the final sigma by these two, and shows them only in its effect
    return ("A" + "\u03A3" + char).lower()[1] == "\u03C3" and not is_case_ignorable(char)


def is_case_ignorable(char):
    # Between the sigma and a letter an ignorable character is passed over.
    return ("A" + "\u03A3" + char + "A").lower()[1] == "\u03C3" and ("A" + "\u03A3" + char + " ").lower()[1] == "\u03C2"


def properties_of(code, sets):
    char = chr(code)
    category = unicodedata.category(char)
    flags = [
        char.isspace(),
        code in sets["breaks"],
        char.isalpha(),
        category == "Nd",
        category == "Mn",
        category[0] == "P",
        re.match(r"\w", char) is not None,
        is_cased(char),
        is_case_ignorable(char),
        code in sets["punct"],
        code in sets["terminal"],
        code in sets["terminal"] - sets["not_sentencizer"],
        char.isupper(),
        char.islower(),
    ]
    return sum(flag << bit for bit, flag in enumerate(flags))


def lower_delta(code):
    lower = chr(code).lower()
    if code == 0x130:  # the one character that becomes two; the caller knows
        return 0
    assert len(lower) == 1
    return ord(lower) - code


def emit(name, kind, items, per_line=100):
    print(f"constexpr {kind} {name}[] = {{")
    line = ""
    for item in items:
        if len(line) + len(item) > per_line:
            print(line)
            line = ""
        line += item + ","
    print(line + "};")


def main():
    if unicodedata.unidata_version != "14.0.0":
        sys.exit(f"expected a Python with Unicode 14.0.0 (3.11), got {unicodedata.unidata_version}")
    perl = from_perl()
    sets = {
        "punct": code_points(PUNCT),
        "terminal": code_points(TERMINAL),
        "not_sentencizer": code_points(NOT_SENTENCIZER),
        "breaks": code_points(LINE_BREAKS),
    }
    assert (len(sets["punct"]), len(sets["terminal"])) == (129, 159)
    assert len(sets["terminal"] - sets["not_sentencizer"]) == 128
    surrogates = range(0xD800, 0xE000)

    def pairs(values):
        return [f"{{{code:#x},{value}}}" for code, value in runs(values)]

    print("// Made by tools/make_unicode_tables.py from CPython 3.11 and Perl 5.36: Unicode 14.0. Do not edit.")
    emit("kPropertyRuns", "CodePointRun<uint16_t>",
         pairs([0 if code in surrogates else properties_of(code, sets) for code in range(LAST)]))
    emit("kLowerRuns", "CodePointRun<int32_t>",
         pairs([0 if code in surrogates else lower_delta(code) for code in range(LAST)]))
    emit("kCombiningClassRuns", "CodePointRun<uint8_t>", pairs([unicodedata.combining(chr(code)) for code in range(LAST)]))
    decompositions = []
    for code in range(LAST):
        if code in surrogates or 0xAC00 <= code < 0xD7A4:  # Hangul syllables are computed
            continue
        canonical = unicodedata.normalize("NFD", chr(code))
        if canonical != chr(code):
            decompositions += [f"{code:#x}", str(len(canonical))] + [f"{ord(char):#x}" for char in canonical]
    print("// code point, length, its canonical decomposition")
    emit("kDecompositions", "char32_t", decompositions)
    pictographic = perl["Extended_Pictographic"]
    emit("kWordBreakRuns", "CodePointRun<uint8_t>", pairs([
        WORD_BREAKS.index(word_break(name, code)) | (0x80 if pictographic[code] == "Y" else 0)
        for code, name in enumerate(perl["Word_Break"])]))
    names = ["Zyyy"] + list(SCRIPTS.values())
    emit("kScriptNames", "std::string_view", [f'"{name}"' for name in names])
    emit("kScriptRuns", "CodePointRun<uint8_t>",
         pairs([names.index(SCRIPTS.get(name, "Zyyy")) for name in perl["Script"]]))


if __name__ == "__main__":
    main()
