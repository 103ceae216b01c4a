"""Random tokenizer.json files and random hard texts, for tools/pipeline_sweep.py. What is drawn is what published files
have, in other combinations; vocabularies are trained by Hugging Face tokenizers on generated text, so that they fit.
Not drawn are the differences that docs/tokenizer.md names: Metaspace's «first» after normalizers that put characters in
or take them away at the start, Replace by a pattern that matches nothing, ByteLevel before another decoder, special
tokens that the normalizer changes, and added tokens that normalise to nothing or to the same text."""

import json
import pathlib
import sys

from tokenizers import Tokenizer, pre_tokenizers, trainers

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools/goldens"))
import make_pipeline_goldens as goldens  # noqa: E402

BEHAVIORS = ["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
PATTERNS = [
    goldens.GPT2, goldens.LLAMA3, goldens.QWEN2, *goldens.DEEPSEEK_LLM, *goldens.DEEPSEEK_V3, goldens.BLOOM,
    goldens.CLIP, goldens.NEMOTRON, goldens.CL100K, goldens.CL100K_TIKTOKEN, goldens.NANOCHAT, goldens.O200K,
    goldens.KIMI, r"\s+", r"\s", r"\d", r"\d{1,3}", r"\w+|[^\w\s]+", r"[\p{P}\p{S}]", r"\p{Lu}?\p{Ll}+|\p{Lu}+",
    r"[^\S\n]+", r"\n+", r"(?i)the|a+", r".", r"[一-龥]", r"\p{M}+", r"^\s|\s$", r"\r?\n", r"(\w)\1"
]
MAYBE_EMPTY = [goldens.DIGITS_FROM_RIGHT, r"(?<=[a-z])(?=[A-Z])|_", r"(?=\p{N})", r"[^a-z]*", r"x?"]  # not of Replace
REPLACED = [" ", "``", "''", "a", "the", "\n", "▁", "é", "\u3000", "  ", "-", "<s>"]
CONTENTS = ["", " ", "▁", "\"", "_", "b", "a b", "é", "東"]
ADDED = [
    "<s>", "</s>", "<mask>", "<tool>", "<|endoftext|>", "[CLS]", "[SEP]", "  ", "   ", "\n\n", "▁▁", "the", "The", "é",
    "e\u0301", "a", " cat", "<TOOL>", "x y", "今日", "<|im_start|>", "\t", "foo_bar", "12", "[MASK]", "．", "ab"
]
# Characters of every kind that are rare in PARTS: any assigned or not, but for surrogates.
RANGES = [(0x00, 0x20), (0x20, 0x7F), (0x80, 0x24F), (0x300, 0x370), (0x370, 0x600), (0x600, 0x900), (0x900, 0xE00),
          (0xE00, 0x1200), (0x1200, 0x1E00), (0x1E00, 0x2000), (0x2000, 0x2070), (0x2070, 0x2C00), (0x2C00, 0x3100),
          (0x3100, 0x3400), (0x4E00, 0xA000), (0xA000, 0xAC00), (0xAC00, 0xD7FF), (0xF900, 0xFB00), (0xFB00, 0xFE00),
          (0xFE00, 0x10000), (0x10000, 0x11FFF), (0x16000, 0x17000), (0x1D000, 0x1D800), (0x1E000, 0x1EFFF),
          (0x1F000, 0x1FBFF), (0x20000, 0x32000), (0xE0000, 0xE01F0)]
DIGITS = "٣४৩๓၃៣᠓３𝟛𑁩²⅓Ⅻ㊿〇一"


def one_or_more(rng, draw, list_name, most):
    """None, one part, or a Sequence of some; a Sequence of one and one inside another are plausible, too."""
    count = rng.choice([0, 1, 1, *range(1, most + 1)])
    parts = [draw(rng) for _ in range(count)]
    if count == 0:
        return None
    if count == 1 and rng.random() < 0.7:
        return parts[0]
    if count > 2 and rng.random() < 0.1:
        parts = [parts[0], {"type": "Sequence", list_name: parts[1:]}]
    return {"type": "Sequence", list_name: parts}


def pattern(rng):
    if rng.random() < 0.3:
        return {"String": rng.choice(REPLACED)}
    return {"Regex": rng.choice(PATTERNS + [" {2,}", r"[\s\p{Cf}]+", r"^ +| +$"])}


def replace(rng):
    return {"type": "Replace", "pattern": pattern(rng), "content": rng.choice(CONTENTS)}


def charsmap():
    """The small one of the goldens."""
    for line in open(ROOT / "tests/golden/tokenizer/hf_pieces.jsonl", encoding="ascii"):
        normalizer = json.loads(line)["tokenizer"]["normalizer"]
        if normalizer and normalizer["type"] == "Precompiled":
            return normalizer
    raise LookupError("no charsmap in the goldens")


CHARSMAPS = [charsmap()]


def normalizer_part(rng):
    flag = lambda: rng.random() < 0.5
    draws = [
        lambda: {"type": rng.choice(["NFC", "NFD", "NFKC", "NFKD"])}, lambda: {"type": "Lowercase"},
        lambda: {"type": "StripAccents"}, lambda: replace(rng),
        lambda: {"type": "Prepend", "prepend": rng.choice(["▁", " ", "_", "a"])},
        lambda: {"type": "Strip", "strip_left": flag(), "strip_right": flag()}, lambda: {"type": "Nmt"}, lambda: {
            "type": "BertNormalizer", "clean_text": flag(), "handle_chinese_chars": flag(), "strip_accents": rng.choice(
                [None, True, False]), "lowercase": flag()
        }, lambda: rng.choice(CHARSMAPS), lambda: {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    ]
    if rng.random() < 0.02:
        return {"type": "ByteLevel"}
    return rng.choice(draws)()


def metaspace(rng):
    part = {
        "type": "Metaspace", "replacement": rng.choice(["▁", "▁", "▁", "_"]),
        "prepend_scheme": rng.choice(["always", "first", "never"]), "split": rng.random() < 0.6
    }
    if rng.random() < 0.2:  # as files were written before 0.15
        part["add_prefix_space"] = part["prepend_scheme"] != "never"
    return part


def byte_level(rng, regex=None):
    return {
        "type": "ByteLevel", "add_prefix_space": rng.random() < 0.4, "trim_offsets": rng.random() < 0.5,
        "use_regex": rng.random() < 0.5 if regex is None else regex
    }


def split(rng):
    if rng.random() < 0.05:
        return {
            "type": "Split", "pattern": {"Regex": rng.choice(MAYBE_EMPTY)}, "behavior": rng.choice(BEHAVIORS),
            "invert": False
        }
    return {
        "type": "Split", "pattern": pattern(rng), "behavior": rng.choice(BEHAVIORS + ["Isolated"] * 2),
        "invert": rng.random() < 0.25
    }


def pre_tokenizer_part(rng):
    rare = [lambda: {"type": "UnicodeScripts"}, lambda: {"type": "FixedLength", "length": rng.choice([1, 3, 5])}]
    if rng.random() < 0.03:
        return rng.choice(rare)()
    draws = [
        lambda: split(rng), lambda: split(rng), lambda: {"type": "Digits", "individual_digits": rng.random() < 0.5},
        lambda: {"type": "Punctuation", "behavior": rng.choice(BEHAVIORS)}, lambda: {"type": "Whitespace"},
        lambda: {"type": "WhitespaceSplit"}, lambda: metaspace(rng), lambda: {"type": "BertPreTokenizer"},
        lambda: {"type": "CharDelimiterSplit", "delimiter": rng.choice(["a", " ", "-", "é", "▁"])}
    ]
    return rng.choice(draws)()


def pre_tokenizer(rng, bytes_last):
    parts = one_or_more(rng, pre_tokenizer_part, "pretokenizers", 3)
    if not bytes_last:
        return parts
    if parts is None:
        return byte_level(rng)
    before = parts["pretokenizers"] if parts["type"] == "Sequence" else [parts]
    published = rng.random() < 0.4  # one pattern and ByteLevel: what the quick way reads
    if published:
        quick = {"type": "Split", "pattern": {"Regex": rng.choice(PATTERNS)}, "behavior": "Isolated", "invert": False}
        return {"type": "Sequence", "pretokenizers": [quick, {**byte_level(rng, False), "add_prefix_space": False}]}
    return {"type": "Sequence", "pretokenizers": [*before, byte_level(rng)]}


def decoder_part(rng):
    flag = lambda: rng.random() < 0.5
    draws = [
        lambda: {"type": "ByteLevel", "add_prefix_space": flag(), "trim_offsets": flag(), "use_regex": flag()},
        lambda: {"type": "ByteFallback"}, lambda: {"type": "Fuse"}, lambda: {
            "type": "Strip", "content": rng.choice([" ", "▁", "a"]), "start": rng.choice([0, 1, 1, 2]), "stop": rng.
            choice([0, 0, 1])
        }, lambda: metaspace(rng), lambda: {"type": "WordPiece", "prefix": rng.choice(["##", "@@"]), "cleanup": flag()},
        lambda: {"type": "BPEDecoder", "suffix": "</w>"}, lambda: replace(rng)
    ]
    if rng.random() < 0.02:
        return {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": flag()}
    return rng.choice(draws)()


def decoder(rng):
    """ByteLevel comes last: what is no UTF-8 stays bytes here, and parts after it would see U+FFFD there."""
    made = one_or_more(rng, decoder_part, "decoders", 4)
    if made and made["type"] == "Sequence":
        parts = [part for part in made["decoders"] if part["type"] not in ("ByteLevel", "Sequence")]
        made["decoders"] = parts + [part for part in made["decoders"] if part["type"] == "ByteLevel"][:1]
    return made


def corpus(rng):
    return [goldens.generate((1 << 32) + rng.randrange(100000)) for _ in range(rng.choice([200, 500, 900]))]


def model_and_trainer(rng, kind, bytes_last):
    """A model's JSON without a vocabulary, and who trains it."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet()) if bytes_last and rng.random() < 0.8 else []
    unknown = None if kind == "BPE" and rng.random() < 0.4 else rng.choice(["<unk>", "[UNK]"])
    byte_pieces = [f"<0x{byte:02X}>" for byte in range(256)]
    fallback = kind in ("BPE", "Unigram") and not bytes_last and rng.random() < 0.4
    if fallback and rng.random() < 0.15:
        byte_pieces = byte_pieces[:rng.choice([0, 0x80, 0xF0])]
    first = ([unknown] if unknown else []) + (byte_pieces if fallback else [])
    size = rng.choice([120, 260, 420, 700]) + len(first) + len(alphabet)
    common = dict(vocab_size=size, show_progress=False, special_tokens=first)
    if kind == "Unigram":
        model = {"type": "Unigram", "unk_id": None, "vocab": [], "byte_fallback": fallback}
        return model, trainers.UnigramTrainer(unk_token=unknown, initial_alphabet=alphabet, **common)
    if kind == "WordLevel":
        return {"type": "WordLevel", "vocab": {}, "unk_token": unknown}, trainers.WordLevelTrainer(**common)
    limit = dict(initial_alphabet=alphabet, limit_alphabet=rng.choice([60, 150, 1000]) + len(alphabet))
    if kind == "WordPiece":
        prefix = rng.choice(["##", "##", "@@"])
        model = {
            "type": "WordPiece", "unk_token": unknown, "continuing_subword_prefix": prefix,
            "max_input_chars_per_word": rng.choice([100, 100, 8]), "vocab": {}
        }
        return model, trainers.WordPieceTrainer(continuing_subword_prefix=prefix, **common, **limit)
    affixes = {}
    if rng.random() < 0.15:
        affixes["continuing_subword_prefix"] = rng.choice(["##", "@@"])
    if rng.random() < 0.15:
        affixes["end_of_word_suffix"] = "</w>"
    model = {
        "type": "BPE", "dropout": rng.choice([None, None, 0.0]), "unk_token": unknown,
        "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": rng.random() < 0.5,
        "byte_fallback": fallback, "ignore_merges": False, "vocab": {}, "merges": [], **affixes
    }
    return model, trainers.BpeTrainer(**common, **limit, **affixes)


def added_tokens(rng, vocab, special_first, normalizer):
    """Some of ADDED with flags, after the vocabulary or, where it has them, with its ids."""
    forms = set()
    added, next_id = [], max(vocab.values(), default=-1) + 1
    contents = special_first + rng.sample(ADDED, rng.choice([0, 2, 4, 8]))
    for content in dict.fromkeys(contents):
        if content in vocab:
            number = vocab[content]
        else:
            number, next_id = next_id, next_id + 1
        rare = lambda chance: rng.random() < chance
        special = content in special_first or (content[0] in "<[" and rare(0.6))
        added.append({
            "id": number, "content": content, "single_word": rare(0.15), "lstrip": rare(0.2), "rstrip": rare(0.2),
            "normalized": rare(0.15) if special else rare(0.5), "special": special
        })
        form = normalizer.normalize_str(content) if normalizer else content
        if special and form != content:  # decoding and unknown text around it are different on purpose
            added[-1]["normalized"] = False
        if not form or form in forms:  # an empty one is found everywhere, and they panic; of equals they take any
            added[-1]["normalized"] = False
        forms.add(form)
        if special and content in vocab:  # or their model makes it where it is no word
            added[-1]["single_word"] = False
    return sorted(added, key=lambda token: token["id"])


def post_processor(rng, added):
    special = [token for token in added if token["special"]]
    if len(special) < 2 or rng.random() < 0.5:
        return rng.choice([None, byte_level(rng)])
    first, last = rng.sample(special, 2)
    pair = lambda token: [token["content"], token["id"]]
    ids = {
        token["content"]: {"id": token["content"], "ids": [token["id"]], "tokens": [token["content"]]}
        for token in (first, last)
    }
    name = lambda token: {"SpecialToken": {"id": token["content"], "type_id": 0}}
    text = {"Sequence": {"id": "A", "type_id": 0}}
    template = {
        "type": "TemplateProcessing", "single": [name(first), text, name(last)],
        "pair": [name(first), text, {"Sequence": {"id": "B", "type_id": 1}},
                 name(last)], "special_tokens": ids
    }
    return rng.choice([
        template, {"type": "BertProcessing", "sep": pair(last), "cls": pair(first)}, {
            "type": "RobertaProcessing", "sep": pair(last), "cls": pair(first), "trim_offsets": True,
            "add_prefix_space": False
        }, {"type": "Sequence", "processors": [byte_level(rng), template]}
    ])


def usual_decoder(rng, kind, bytes_last, fallback):
    if bytes_last:
        return {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    if kind == "WordPiece":
        return {"type": "WordPiece", "prefix": "##", "cleanup": rng.random() < 0.5}
    if fallback:
        parts = [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, {"type": "ByteFallback"},
                 {"type": "Fuse"}]
        strip = [{"type": "Strip", "content": " ", "start": 1, "stop": 0}]
        return {"type": "Sequence", "decoders": parts + (strip if rng.random() < 0.5 else [])}
    return rng.choice([metaspace(rng), None])


def changes_start(normalizer):
    """Where characters are put in, several words begin where the text does to Metaspace's «first»."""
    names = ("Prepend", "BertNormalizer", "ByteLevel", "Replace", "Precompiled")
    return any(f'"{name}"' in json.dumps(normalizer) for name in names)


def tokenizer_json(rng):
    """A file that Hugging Face tokenizers reads, or None where the draw makes no sense to it."""
    kind = rng.choice(["BPE", "BPE", "BPE", "Unigram", "WordPiece", "WordLevel"])
    bytes_last = kind == "BPE" and rng.random() < 0.5
    model, trainer = model_and_trainer(rng, kind, bytes_last)
    normalizer = one_or_more(rng, normalizer_part, "normalizers", 4)
    file = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": [], "normalizer": normalizer,
        "pre_tokenizer": pre_tokenizer(rng, bytes_last), "post_processor": None, "decoder": None, "model": model
    }
    made = Tokenizer.from_str(json.dumps(file))
    made.train_from_iterator(corpus(rng), trainer)
    trained = json.loads(made.to_str())
    model |= {key: trained["model"][key] for key in ("vocab", "merges", "unk_id") if key in trained["model"]}
    if kind == "BPE":
        model["ignore_merges"] = rng.random() < 0.3
        if rng.random() < 0.3 and not any(" " in part for merge in model["merges"] for part in merge):
            model["merges"] = [" ".join(merge) for merge in model["merges"]]  # as files were written before 0.20
    vocab = model["vocab"] if isinstance(model["vocab"],
                                         dict) else {piece: number
                                                     for number, (piece, _) in enumerate(model["vocab"])}
    unknown = model.get("unk_token") or (model["vocab"][model["unk_id"]][0]
                                         if model.get("unk_id") is not None else None)
    file["added_tokens"] = added_tokens(rng, vocab, [unknown] if unknown and rng.random() < 0.7 else [],
                                        made.normalizer)
    file["post_processor"] = post_processor(rng, file["added_tokens"])
    usual = rng.random() < 0.6
    if "Metaspace" in json.dumps(file["pre_tokenizer"]) and changes_start(normalizer):
        file["pre_tokenizer"] = json.loads(json.dumps(file["pre_tokenizer"]).replace('"first"', '"always"'))
    file["decoder"] = None if usual else decoder(rng)
    if usual or bytes_last and file["decoder"] is None:  # without one bytes stay as they are spelt, there
        file["decoder"] = usual_decoder(rng, kind, bytes_last, model.get("byte_fallback"))
    if rng.random() < 0.2:  # published files have what somebody left there
        file["truncation"] = {"direction": "Right", "max_length": 7, "strategy": "LongestFirst", "stride": 0}
        file["padding"] = {
            "strategy": {"Fixed": 9}, "direction": "Left", "pad_to_multiple_of": None, "pad_id": 0, "pad_type_id": 0,
            "pad_token": "<unk>"
        }
    return file


def text(rng, contents):
    """Parts of the goldens, the added tokens' spellings and any other characters."""

    def piece():
        chance = rng.random()
        if chance < 0.5:
            return rng.choice(goldens.PARTS)
        if chance < 0.65 and contents:
            return rng.choice(contents)
        if chance < 0.75:
            return " " * rng.randrange(1, 9)
        if chance < 0.8:
            return "".join(rng.choice(DIGITS) for _ in range(rng.randrange(1, 5)))
        if chance < 0.82:
            return rng.choice(["\r", "\0", "\n" * rng.randrange(1, 6), "\x0b\x0c", "\u2028", "\x1c", "\x85"])
        if chance < 0.83:
            return rng.choice(["ab", "é", "한", "x1", "👍🏽", "e\u0301", "_"]) * rng.randrange(10, 120)
        return "".join(chr(rng.randrange(*rng.choice(RANGES))) for _ in range(rng.randrange(1, 6)))

    return "".join(piece() for _ in range(rng.choice([1, 1, 2, 3, 5, 8, 14])))
