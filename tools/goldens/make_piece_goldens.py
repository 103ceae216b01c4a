#!/usr/bin/env python3
"""Makes tests/golden/tokenizer/hf_pieces.jsonl: small tokenizer.json files of pieces (unigram, and BPE with byte fallback) with
the normalizers, pre-tokenizers and decoders that published ones have, and what Hugging Face tokenizers makes of texts.

    pip install tokenizers sentencepiece protobuf      # made with 0.23.3 and 0.2.2
    python tools/goldens/make_piece_goldens.py

The vocabularies are trained on sentences made up here. A line holds: name, tokenizer, cases [text, ids], decoded [ids, text].
Special tokens are found in the texts.
"""

import json
import pathlib
import random
import tempfile

import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/tokenizer/hf_pieces.jsonl"
WORDS = ("the a cat dog sat on mat river mountains running runs ran quickly slowly house houses light night right 12 2024 3.14 "
         "def return self for if else print( ) = == + - { } ; 今日 は 天気 が いい です ね 東京 猫 我们 学习 机器 语言 模型 文本 数据 的 是 "
         "naïve café über").split()
# What the charsmap replaces: enough of each kind, and small.
RULES = {"\u00a0": " ", "\t": " ", "\n": " ", "\r": " ", "\u3000": " ", "ﬁ": "fi", "①": "1", "½": "1⁄2", "Ａ": "A", "Ｂ": "B",
         "e\u0301": "é", "i\u0308": "ï", "ｶ": "カ", "ｶﾞ": "ガ", "\u200b": "", "\u0001": "", "…": "...", "ǆ": "dž", "\u1e9b\u0323": "ṩ"}
PARTS = [" ", " ", "  ", "   ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2009", "a", "the", " cat", "é", "e\u0301", "\u0301", "ﬁ", "ﬁ\u0301",
         "①", "½", "Ａ", "ｶﾞ", "가", "\u1100\u1161", "今日", "学习", "語", "▁", "▁▁", "▁a", "``", "''", "İ", "ς", "👍🏽", "👨\u200d👩", "\u200b", "\u200d",
         "\ufeff", "\u0000", "\u0001", "\ufffd", "ǆ", "\u1e9b\u0323", "<s>", "</s>", "<unk>", "<mask>", "<0x41>", "<tool>", "foo bar", "…", "12",
         "क्षि", "\U0001d400", "\U000e0100", "\u0600a", "a\ufe0f", "\u32ff", "\u1abf", "CAFÉ", "def f(x):\n    return x\n"]
HARD = ["", " ", "  ", "a", " a", "a ", " <s> a", "<s>a", "<s> a </s>  b", "<mask>x", " <mask> x", "the<s>the", "<s> the  cat <s>", "aaaaaaa", "▁", " ▁ "]


def train(folder, **options):
    rng = random.Random(5)
    text, rules = pathlib.Path(folder) / "text", pathlib.Path(folder) / "rules"
    text.write_text("\n".join(" ".join(rng.choices(WORDS, k=12)) for _ in range(400)))
    points = lambda s: " ".join(f"{ord(c):X}" for c in s)
    rules.write_text("".join(f"{points(a)}\t{points(b)}\n" for a, b in RULES.items()))
    if options.pop("charsmap"):
        options["normalization_rule_tsv"] = str(rules)
    else:
        options["normalization_rule_name"] = "identity"
    sentencepiece.SentencePieceTrainer.train(input=str(text), model_prefix=f"{folder}/m", minloglevel=2, **options)
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString((pathlib.Path(folder) / "m.model").read_bytes())
    return proto


def merges_of(proto):
    vocab = {piece.piece: i for i, piece in enumerate(proto.pieces)}
    merges = []
    for piece in proto.pieces:
        halves = ((piece.piece[:i], piece.piece[i:]) for i in range(1, len(piece.piece)) if piece.type == 1)
        merges += sorted(((vocab[l], vocab[r], l, r, piece.score) for l, r in halves if l in vocab and r in vocab))
    return vocab, [(l, r) for _, _, l, r, _ in sorted(merges, key=lambda m: -m[4])]


def tokenizer(model, normalizer, pre_tokenizer, decoder, added=()):
    made = Tokenizer(model)
    if normalizer:
        made.normalizer = normalizers.Sequence(normalizer) if isinstance(normalizer, list) else normalizer
    if pre_tokenizer:
        made.pre_tokenizer = pre_tokenizers.Sequence(pre_tokenizer) if isinstance(pre_tokenizer, list) else pre_tokenizer
    if decoder:
        made.decoder = decoders.Sequence(decoder) if isinstance(decoder, list) else decoder
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) for text in ("<unk>", "<s>", "</s>")])
    made.add_tokens(list(added))
    return made


def tokenizers():
    with tempfile.TemporaryDirectory() as folder:
        bytes_too = dict(byte_fallback=True, hard_vocab_limit=False, character_coverage=0.98)
        bpe = train(folder, charsmap=False, model_type="bpe", vocab_size=430, remove_extra_whitespaces=False, **bytes_too)
        mapped = train(folder, charsmap=True, model_type="unigram", vocab_size=180, hard_vocab_limit=False)
        bytewise = train(folder, charsmap=False, model_type="unigram", vocab_size=430, **bytes_too)
    vocab, merges = merges_of(bpe)
    charsmap = normalizers.Precompiled(mapped.normalizer_spec.precompiled_charsmap)
    scored = [(piece.piece, piece.score) for piece in mapped.pieces]
    scored_bytes = [(piece.piece, piece.score) for piece in bytewise.pieces]
    llama = lambda: models.BPE(vocab=vocab, merges=merges, unk_token="<unk>", fuse_unk=True, byte_fallback=True)
    characters = {text: i for i, text in enumerate(["<unk>", "▁", *"abcdehst", "th", "the", "▁the", "at"])}
    unfused = models.BPE(vocab=characters, merges=[("t", "h"), ("th", "e"), ("▁", "the"), ("a", "t")], unk_token="<unk>", fuse_unk=False)
    Meta, Replace, White = pre_tokenizers.Metaspace, normalizers.Replace, pre_tokenizers.WhitespaceSplit
    prepend = [normalizers.Prepend("▁"), Replace(" ", "▁")]
    bytes_decoder = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    strip = bytes_decoder + [decoders.Strip(" ", 1, 0)]
    runs = Replace(Regex(" {2,}"), " ")
    mask = AddedToken("<mask>", special=True, normalized=False, lstrip=True)
    yield "llama2", tokenizer(llama(), prepend, None, strip)
    yield "llama_first", tokenizer(llama(), None, Meta("▁", "first", False), strip)
    yield "llama_always", tokenizer(llama(), None, Meta("▁", "always", False), strip, [mask])
    yield "mistral_split", tokenizer(llama(), None, Meta("▁", "first", True), strip)
    yield "gemma", tokenizer(llama(), Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous"), bytes_decoder,
                             [AddedToken(text, special=False, normalized=False) for text in ("\n\n", "▁▁▁", "<tool>")])
    yield "normalized_added", tokenizer(llama(), prepend, None, strip, [AddedToken(text, normalized=True) for text in ("<tool>", "foo bar")])
    yield "unfused", tokenizer(unfused, None, Meta("▁", "always", True), None)
    yield "xlm_roberta", tokenizer(models.Unigram(scored, 0), [charsmap, runs], [White(), Meta("▁", "always")], decoders.Metaspace("▁", "always"), [mask])
    yield "t5", tokenizer(models.Unigram(scored, 0), charsmap, Meta("▁", "always"), decoders.Metaspace("▁", "always"))
    yield "t5_first", tokenizer(models.Unigram(scored, 0), [charsmap, normalizers.Strip(False, True), Replace(Regex(" {2,}"), "▁")],
                                Meta("▁", "first"), decoders.Metaspace("▁", "first"), [mask])
    yield "albert", tokenizer(models.Unigram(scored, 0), [Replace("``", '"'), Replace("''", '"'), normalizers.NFKD(), normalizers.StripAccents(),
                                                          normalizers.Lowercase(), charsmap, runs], [White(), Meta("▁", "always")],
                              decoders.Metaspace("▁", "always"))
    yield "deberta", tokenizer(models.Unigram(scored, 0), [normalizers.Strip(), normalizers.NFKC(), normalizers.Lowercase(), runs],
                               Meta("▁", "first", False), decoders.Metaspace("▁", "first"))
    yield "unigram_bytes", tokenizer(models.Unigram(scored_bytes, 0, True), prepend, None, bytes_decoder)
    yield "unigram_never", tokenizer(models.Unigram(scored_bytes, 0, True), normalizers.NFD(), Meta("▁", "never"), decoders.Metaspace("▁", "never"))
    yield "unigram_words", tokenizer(models.Unigram(scored_bytes, 0, True), [normalizers.StripAccents(), normalizers.NFC()],
                                     [White(), Meta("▁", "first")], strip)


def main():
    rng = random.Random(11)
    with open(OUT, "w", encoding="ascii") as file:
        for name, made in tokenizers():
            texts = HARD + ["".join(rng.choices(PARTS, k=rng.randint(1, 7))) for _ in range(70)]
            texts += [" ".join(rng.choices(WORDS, k=8)) for _ in range(4)]
            cases = [[text, made.encode(text, add_special_tokens=False).ids] for text in texts]
            sequences = [rng.choices(range(made.get_vocab_size()), k=rng.randint(1, 6)) for _ in range(20)] + [ids for _, ids in cases[::4]]
            decoded = [[ids, made.decode(ids)] for ids in sequences]
            line = {"name": name, "tokenizer": json.loads(made.to_str()), "cases": cases, "decoded": decoded}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
