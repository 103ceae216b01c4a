#!/usr/bin/env python3
"""Makes tests/golden/tokenizer/pipelines.jsonl: small tokenizer.json files in the arrangements that published ones have, and what
Hugging Face tokenizers makes of generated texts.

    pip install tokenizers      # made with 0.23.3
    python tools/goldens/make_pipeline_goldens.py [TEXTS]

The first line holds what texts are made of, by generate(), which tests/tokenizer/pipeline_test.cpp has, too. Every other line: name,
kinds (the published tokenizers that are built so), tokenizer, hash (of the ids of TEXTS generated texts, 10,000 without another
number), cases [text, ids] in clear, decoded [ids, text]. Special tokens are found in the texts.
"""

import json
import pathlib
import sys

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/tokenizer/pipelines.jsonl"
MASK = (1 << 64) - 1

# Words, spaces of all kinds, numbers, marks, scripts, what tokenizers take for special.
PARTS = [" ", " ", " ", "  ", "   ", "\n", "\r\n", "\n\n", "\t", "\u00a0", "\u3000", "\u2009", "\u0085", "\u200b", "a", "the", " the", "The", " cat",
         "CAT", "Hello", "hello", " world", "n't", "'s", "'S", "'re", "'LL", "I'm", "don't", "re-use", "foo_bar", "snake_case", "camelCase", "x",
         "0", "1", "12", "123", "1234", "12345", "3.14", "1,000", "2024-11-18", "٣٤", "²", "½", "Ⅷ", "𝟘", "!", "?", "...", "…", "--", "—", "(", ")",
         "[", "]", "{", "}", "<", ">", "=", "==", "+=", "$", "€", "#", "@user", "/", "//", "\\", "|", "^", "`", "~", "\"", "“", "”", "‘", "’", "«", "»",
         "é", "e\u0301", "\u0301", "naïve", "CAFÉ", "über", "Straße", "ﬁ", "Ａ", "ｶﾞ", "①", "İ", "ς", "ǆ", "가", "\u1100\u1161", "한국어", "今日", "は",
         "東京", "学习", "的", "，", "。", "、", "カタカナ", "привет", "Мир", "γεια", "שלום", "مرحبا", "हिन्दी", "क्षि", "ไทย", "𠀀", "👍", "👍🏽",
         "👨\u200d👩", "🇩🇪", "\ufe0f", "\u0000", "\u0001", "\u007f", "\u00ad", "\ufeff", "\ufffd", "\u0897", "\u1c89", "\u31e4", "𐵀", "\U0002ebf0",
         "\U000e0100", "▁", "▁a", "Ġ", "Ċ", "</w>", "##s", "<0x41>", "[CLS]", "[SEP]", "<s>", "</s>", "<|endoftext|>", "<mask>", " <mask> ", "<tool>",
         "def f(x):\n    return x\n", "https://example.com/a?b=c", "aaaaaaaa", "\n    ", "ab" * 8, "z", "q", "."]


class Generator:
    """splitmix64; the same in the test."""

    def __init__(self, seed):
        self.state = seed

    def below(self, bound):
        self.state = (self.state + 0x9E3779B97F4A7C15) & MASK
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return (z ^ (z >> 31)) % bound


def generate(number):
    rng = Generator(number)
    return "".join(PARTS[rng.below(len(PARTS))] for _ in range(1 + rng.below(12)))


def hash_of(ids, state):
    """FNV-1a over the ids and, between two texts, over a number that is none."""
    for value in [*ids, 0xFFFFFFFF]:
        state = ((state ^ value) * 0x100000001B3) & MASK
    return state


GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
DEEPSEEK_LLM = [r"[\r\n]", "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u0386\u0388-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f]+",
                "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+", r"\s+$", "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"]
DEEPSEEK_V3 = [r"\p{N}{1,3}", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
               r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"]
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
NEMOTRON = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+"
            r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
CL100K = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
CL100K_TIKTOKEN = CL100K.replace("{1,3}", "{1,3}+")
NANOCHAT = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
UPPER, LOWER, SHORT = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
O200K = "|".join([rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+{SHORT}", rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*{SHORT}", r"\p{N}{1,3}",
                  r" ?[^\s\p{L}\p{N}]+[\r\n/]*", r"\s*[\r\n]+", r"\s+(?!\S)", r"\s+"])
KIMI = r"[\p{Han}]+|" + O200K.replace(r"\p{M}]", r"\p{M}&&[^\p{Han}]]").replace(r"[\r\n/]*", r"[\r\n]*")
DIGITS_FROM_RIGHT = r"(?=(\d{3})+(?!\d))"

Split, Bytes, Meta, Seq = pre_tokenizers.Split, pre_tokenizers.ByteLevel, pre_tokenizers.Metaspace, pre_tokenizers.Sequence
BYTES = lambda: Bytes(add_prefix_space=False, use_regex=False)
isolated = lambda *patterns: [Split(Regex(p), "isolated") for p in patterns]


def corpus():
    """What vocabularies are trained on: texts of another range than those that are compared."""
    return [generate((1 << 32) + number) for number in range(1500)]


def trained(model, trainer, normalizer=None, pre_tokenizer=None):
    made = Tokenizer(model)
    if normalizer:
        made.normalizer = normalizer
    if pre_tokenizer:
        made.pre_tokenizer = pre_tokenizer
    made.train_from_iterator(corpus(), trainer)
    return json.loads(made.to_str())["model"]


def byte_bpe(pre_tokenizer, size=420, without=(), **options):
    alphabet = sorted(Bytes.alphabet())
    model = trained(models.BPE(), trainers.BpeTrainer(vocab_size=size, initial_alphabet=alphabet, show_progress=False), None, pre_tokenizer)
    lost = [spelt for spelt in model["vocab"] if any(mark in spelt for mark in without)]
    model["merges"] = [merge for merge in model["merges"] if "".join(merge) not in lost and not any(part in lost for part in merge)]
    kept = [spelt for spelt in sorted(model["vocab"], key=model["vocab"].get) if spelt not in lost]
    model["vocab"] = {spelt: number for number, spelt in enumerate(kept)}
    return models.BPE(vocab=model["vocab"], merges=[tuple(m) for m in model["merges"]], **options)


def character_bpe(pre_tokenizer=None, normalizer=None, size=260, first=("<unk>",), **options):
    extra = {key: options[key] for key in ("continuing_subword_prefix", "end_of_word_suffix") if key in options}
    trainer = trainers.BpeTrainer(vocab_size=size, special_tokens=list(first), show_progress=False, limit_alphabet=120, **extra)
    model = trained(models.BPE(unk_token=first[0], **extra), trainer, normalizer, pre_tokenizer)
    return models.BPE(vocab=model["vocab"], merges=[tuple(m) for m in model["merges"]], unk_token=first[0], **options)


def unigram(pre_tokenizer, normalizer=None, **options):
    trainer = trainers.UnigramTrainer(vocab_size=240, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    model = trained(models.Unigram(), trainer, normalizer, pre_tokenizer)
    return models.Unigram([(piece, round(score, 6)) for piece, score in model["vocab"]], model["unk_id"], **options)


def word_piece(pre_tokenizer, normalizer, **options):
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=specials, limit_alphabet=90, show_progress=False)
    model = trained(models.WordPiece(unk_token="[UNK]"), trainer, normalizer, pre_tokenizer)
    return models.WordPiece(vocab=model["vocab"], unk_token="[UNK]", **options)


def word_level(pre_tokenizer, normalizer=None):
    trainer = trainers.WordLevelTrainer(vocab_size=200, special_tokens=["<unk>"], show_progress=False)
    model = trained(models.WordLevel(unk_token="<unk>"), trainer, normalizer, pre_tokenizer)
    return models.WordLevel(vocab=model["vocab"], unk_token="<unk>")


def template(made, first, last):
    made.post_processor = processors.TemplateProcessing(
        single=f"{first} $A {last}", special_tokens=[(first, made.token_to_id(first)), (last, made.token_to_id(last))])


def tokenizer(model, pre_tokenizer, decoder, normalizer=None, specials=("<s>", "</s>"), added=(), post=None):
    made = Tokenizer(model)
    as_list = lambda parts, sequence: sequence(parts) if isinstance(parts, list) else parts
    if normalizer is not None:
        made.normalizer = as_list(normalizer, normalizers.Sequence)
    if pre_tokenizer is not None:
        made.pre_tokenizer = as_list(pre_tokenizer, Seq)
    if decoder is not None:
        made.decoder = as_list(decoder, decoders.Sequence)
    made.add_special_tokens([AddedToken(text, special=True, normalized=False) if isinstance(text, str) else text for text in specials])
    made.add_tokens(list(added))
    if post == "template":
        template(made, specials[0], specials[1])
    elif post is not None:
        made.post_processor = post(made)
    return made


def byte_level(name, kinds, pre_tokenizer, normalizer=None, specials=("<|endoftext|>",), added=(), post=None, **options):
    parts = pre_tokenizer if isinstance(pre_tokenizer, list) else [pre_tokenizer]
    model = byte_bpe(Seq(parts), **options)
    return name, kinds, tokenizer(model, pre_tokenizer, decoders.ByteLevel(), normalizer, specials, added, post)


def arrangements():
    N, P = normalizers, pre_tokenizers
    bert = lambda lower: N.BertNormalizer(lowercase=lower)
    bert_specials = ("[CLS]", "[SEP]", "[UNK]", "[PAD]", "[MASK]")
    mask = AddedToken("<mask>", special=True, normalized=False, lstrip=True)
    pair = lambda kind: lambda made: kind(("</s>", made.token_to_id("</s>")), ("<s>", made.token_to_id("<s>")))

    yield byte_level("gpt2", "GPT-2", Bytes(False))
    yield byte_level("gpt2_prefix_space", "GPT-2 and BART with add_prefix_space", Bytes(True))
    yield byte_level("roberta", "RoBERTa, BART, Longformer", Bytes(False), specials=("<s>", "</s>", mask), post=pair(processors.RobertaProcessing))
    yield byte_level("llama3", "Llama 3", isolated(LLAMA3) + [BYTES()], specials=("<s>", "</s>"), ignore_merges=True, post="template")
    yield byte_level("qwen2", "Qwen 2, 2.5, 3", isolated(QWEN2) + [BYTES()], N.NFC(), added=[AddedToken("<tool>", normalized=False)])
    yield byte_level("starcoder", "StarCoder, SmolLM, Granite code", [P.Digits(individual_digits=True), Bytes(False)])
    yield byte_level("falcon", "Falcon", [P.Punctuation("contiguous"), Bytes(False), P.Digits(False), Split(Regex("[0-9][0-9][0-9]"), "isolated")])
    yield byte_level("deepseek_llm", "DeepSeek LLM and Coder", isolated(*DEEPSEEK_LLM) + [P.Digits(True), BYTES()], specials=("<s>", "</s>"))
    yield byte_level("deepseek_v3", "DeepSeek V2, V3, R1", isolated(*DEEPSEEK_V3) + [BYTES()], specials=("<s>", "</s>"), post="template")
    yield byte_level("bloom", "BLOOM, BLOOMZ", [Split(Regex(BLOOM), "isolated"), BYTES()], specials=("<s>", "</s>"))
    yield byte_level("nemotron", "Nemotron, Mistral NeMo (Tekken)", isolated(NEMOTRON) + [BYTES()], specials=("<s>", "</s>"), ignore_merges=True)
    yield byte_level("gpt_neox", "GPT-NeoX, Pythia, OLMo", Bytes(False), N.NFC(), added=[AddedToken("  ", normalized=True), AddedToken("   ", normalized=True)])
    yield byte_level("digits_from_right", "Digits in threes from the right", isolated(DIGITS_FROM_RIGHT, GPT2) + [BYTES()])
    yield byte_level("digits_together", "GPT-2's pattern after Digits", [P.Digits(individual_digits=False), Bytes(False)])
    yield byte_level("split_removed", "Split, a string that is removed", [Split(" ", "removed"), Bytes(True, use_regex=False)])
    yield byte_level("split_previous", "Split, merged with what is before", [Split(Regex(r"\s+"), "merged_with_previous"), BYTES()])
    yield byte_level("split_next", "Split, merged with what is after", [Split(Regex(r"\s"), "merged_with_next"), BYTES()])
    yield byte_level("split_contiguous", "Split, runs of matches", [Split(Regex(r"[\p{P}\p{S}]"), "contiguous"), BYTES()])
    yield byte_level("split_inverted", "Split, inverted", [Split(Regex(r"\p{L}+|\p{N}+|\s+"), "isolated", invert=True), BYTES()])
    yield byte_level("split_inverted_next", "Split, inverted and merged", [Split(Regex(r"\w+"), "merged_with_next", invert=True), BYTES()])
    yield byte_level("split_empty", "Split, where matches are empty", [Split(Regex(r"(?<=[a-z])(?=[A-Z])|_"), "merged_with_previous"), BYTES()])
    yield byte_level("byte_normalizer", "ByteLevel as a normalizer", Split(Regex(r"Ġ?[a-zA-Z]+|Ġ+|[^Ġa-zA-Z]+"), "isolated"), [N.NFKC(), N.ByteLevel()])
    yield byte_level("char_delimiter", "CharDelimiterSplit", [P.CharDelimiterSplit("a"), BYTES()])

    yield byte_level("cl100k", "GPT-4 (cl100k), as this program writes it", isolated(CL100K) + [BYTES()])
    yield byte_level("cl100k_tiktoken", "cl100k as tiktoken spells it, other digits to Oniguruma", isolated(CL100K_TIKTOKEN) + [BYTES()])
    yield byte_level("o200k", "GPT-4o, gpt-oss, Llama 4", isolated(O200K) + [BYTES()], specials=("<s>", "</s>"), ignore_merges=True,
                     post=lambda made: processors.ByteLevel(trim_offsets=False))
    yield byte_level("nanochat", "nanochat", isolated(NANOCHAT) + [BYTES()])
    yield byte_level("kimi", "Kimi K2", isolated(KIMI) + [BYTES()], specials=("<s>", "</s>"), ignore_merges=True)
    both = dict(normalized=False, lstrip=True, rstrip=True)
    yield byte_level("phi4", "Phi-4", [Split(Regex(LLAMA3), "removed", invert=True), BYTES()], specials=(AddedToken("<|endoftext|>", special=True, **both),),
                     added=[AddedToken("<tool>", **both)])
    yield byte_level("llama3_sequence", "Llama 3.1, SmolLM3", isolated(LLAMA3) + [BYTES()], specials=("<s>", "</s>"), ignore_merges=True,
                     added=[AddedToken("<tool>", normalized=False)],
                     post=lambda made: processors.Sequence([processors.ByteLevel(trim_offsets=False), processors.TemplateProcessing(
                         single="<s> $A", special_tokens=[("<s>", made.token_to_id("<s>"))])]))
    yield byte_level("command_r", "Command R, Aya", [P.Digits(individual_digits=True), Bytes(False)], N.NFC(), specials=("<s>", "</s>"), post="template")
    yield byte_level("modernbert", "ModernBERT", Bytes(False), N.NFC(), specials=("[CLS]", "[SEP]", mask),
                     added=[AddedToken(" " * count, normalized=True) for count in (3, 2, 4)] + [AddedToken("<tool>", normalized=True)], post="template")
    yield byte_level("digits_first", "Digits in threes, then Llama 3's pattern", isolated(r"\p{N}{1,3}", LLAMA3.replace("{1,3}", "+")) + [BYTES()])
    yield byte_level("newlines_next", "Runs of line ends merged with what is after", [Split(Regex(r"(?:\r?\n)+(?!\r?\n)"), "merged_with_next")] +
                     isolated(QWEN2) + [BYTES()])
    rare = [chr(0x100 + byte) for byte in (0x00, 0x01)] + ["©", "ñ"]
    yield byte_level("few_bytes", "Byte-level BPE without a token for every byte", Bytes(False), without=rare)
    yield byte_level("few_bytes_unknown", "The same with an unknown token", isolated(LLAMA3) + [BYTES()], without=rare, unk_token="!", fuse_unk=True)

    clip_pre = [Split(Regex(CLIP), "removed", invert=True), Bytes(False)]
    clip_norm = [N.NFC(), N.Replace(Regex(r"\s+"), " "), N.Lowercase()]
    clip_model = character_bpe(Seq(clip_pre), N.Sequence(clip_norm), 700, ("<|endoftext|>",), end_of_word_suffix="</w>")
    yield "clip", "CLIP, Stable Diffusion", tokenizer(clip_model, clip_pre, decoders.ByteLevel(), clip_norm, ("<|endoftext|>",))

    words = P.Whitespace()
    yield "bert_uncased", "BERT uncased, DistilBERT, MiniLM", tokenizer(
        word_piece(P.BertPreTokenizer(), bert(True)), P.BertPreTokenizer(), decoders.WordPiece(), bert(True), bert_specials, post="template")
    yield "bert_cased", "BERT cased, multilingual BERT", tokenizer(
        word_piece(P.BertPreTokenizer(), bert(False), max_input_chars_per_word=12), P.BertPreTokenizer(), decoders.WordPiece(cleanup=False), bert(False),
        bert_specials, post=lambda made: processors.BertProcessing(("[SEP]", made.token_to_id("[SEP]")), ("[CLS]", made.token_to_id("[CLS]"))))
    accents = N.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
    yield "bert_accents", "BertNormalizer, one part of it", tokenizer(
        word_piece(P.BertPreTokenizer(), accents, continuing_subword_prefix="##"), P.BertPreTokenizer(), decoders.WordPiece(), accents, bert_specials)
    yield "electra_words", "WordPiece after Whitespace", tokenizer(
        word_piece(words, N.Sequence([N.NFD(), N.Lowercase(), N.StripAccents()])), words, decoders.WordPiece(),
        [N.NFD(), N.Lowercase(), N.StripAccents()], bert_specials)
    yield "word_level", "WordLevel after Whitespace", tokenizer(word_level(words, N.Lowercase()), words, None, N.Lowercase())
    yield "word_level_split", "WordLevel after WhitespaceSplit and Punctuation", tokenizer(
        word_level(Seq([P.WhitespaceSplit(), P.Punctuation("merged_with_previous")])), [P.WhitespaceSplit(), P.Punctuation("merged_with_previous")], None)

    yield "gpt1", "GPT: BPE with a suffix at the end of words", tokenizer(
        character_bpe(P.BertPreTokenizer(), bert(True), end_of_word_suffix="</w>"), P.BertPreTokenizer(), decoders.BPEDecoder("</w>"), bert(True))
    yield "bpe_prefix", "BPE with a prefix inside words", tokenizer(
        character_bpe(words, continuing_subword_prefix="##", fuse_unk=True), words, decoders.WordPiece())
    some_bytes = character_bpe(words, first=("<unk>", *(f"<0x{byte:02X}>" for byte in range(0x20, 0xE0))), size=420, byte_fallback=True, fuse_unk=True)
    yield "some_bytes", "BPE with bytes, not all of them", tokenizer(some_bytes, words, [decoders.ByteFallback(), decoders.Fuse()])
    whole = character_bpe(P.Sequence([P.Digits(True), Meta("▁", "always")]), ignore_merges=True)
    yield "whole_words", "BPE with ignore_merges, Digits and Metaspace", tokenizer(whole, [P.Digits(True), Meta("▁", "always")], decoders.Metaspace("▁", "always"))
    no_unknown = character_bpe(words)
    no_unknown.unk_token = None
    yield "no_unknown", "BPE that drops what it does not know", tokenizer(no_unknown, words, decoders.Fuse())
    underscore = character_bpe(Meta("_", "first"))
    yield "metaspace_other", "Metaspace with another mark", tokenizer(underscore, Meta("_", "first"), decoders.Metaspace("_", "first"))

    yield "unigram_digits", "Unigram, Metaspace and Digits", tokenizer(
        unigram(Seq([Meta("▁", "first"), P.Digits(True)])), [Meta("▁", "first"), P.Digits(True)], decoders.Metaspace("▁", "first"))
    yield "unigram_words", "Unigram after Whitespace and Punctuation", tokenizer(
        unigram(Seq([words, P.Punctuation()]), N.NFKC()), [words, P.Punctuation()], None, [N.NFKC(), N.Replace(Regex(r"[0-9]"), "0")])
    yield "unigram_regex", "Unigram, Replace by a pattern, Metaspace", tokenizer(
        unigram(Meta("▁", "always"), N.Replace(Regex(r"[\s\p{Cf}]+"), " ")), Meta("▁", "always"), decoders.Metaspace("▁", "always"),
        [N.Replace(Regex(r"[\s\p{Cf}]+"), " "), N.Strip()])
    yield "llama2", "Llama 2, TinyLlama, Mistral", tokenizer(
        character_bpe(None, N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁")]), first=("<unk>", *(f"<0x{byte:02X}>" for byte in range(256))), size=560,
                      byte_fallback=True, fuse_unk=True), None,
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)], [N.Prepend("▁"), N.Replace(" ", "▁")])
    marks, bytes_first = N.Replace(" ", "▁"), ("<unk>", *(f"<0x{byte:02X}>" for byte in range(256)))
    with_bytes = lambda normalizer, pre=None, size=540: character_bpe(pre, normalizer, first=bytes_first, size=size, byte_fallback=True, fuse_unk=True)
    plain_decoder = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    strip_decoder = plain_decoder + [decoders.Strip(" ", 1, 0)]
    yield "llama2_first", "Llama 2 as transformers writes it today, Mistral v0.3", tokenizer(
        with_bytes(N.Sequence([N.Prepend("▁"), marks])), Meta("▁", "first", False), strip_decoder, post="template")
    yield "phi3", "Phi-3", tokenizer(
        with_bytes(N.Sequence([N.Prepend("▁"), marks])), None, strip_decoder, [N.Prepend("▁"), marks],
        ("<s>", AddedToken("</s>", normalized=False, rstrip=True), AddedToken("<|endoftext|>", special=True, normalized=False, rstrip=True)))
    gemma_split = lambda: Split(" ", "merged_with_previous")
    yield "gemma", "Gemma 1, 2, 3", tokenizer(
        with_bytes(marks, gemma_split()), gemma_split(), plain_decoder, marks, ("<s>", "</s>"),
        [AddedToken(text, normalized=False) for text in ("\n\n", "\n\n\n", "▁▁", "▁▁▁", "<tool>")], post="template")
    yield "yi", "Yi: marks, and none in front", tokenizer(with_bytes(marks), None, plain_decoder, marks)
    yield "bytes_made", "The same, where text that spells a byte's piece is merged to it", tokenizer(with_bytes(marks, size=620), None, plain_decoder, marks)
    nmt = [N.Nmt(), N.NFKC(), N.Replace(Regex(" {2,}"), " "), N.Lowercase()]
    yield "unigram_nmt", "SentencePieceUnigramTokenizer of tokenizers", tokenizer(
        unigram(Meta("▁", "always"), N.Sequence(nmt)), Meta("▁", "always"), decoders.Metaspace("▁", "always"), nmt)
    yield "t5", "T5, ALBERT, XLM-R", tokenizer(
        unigram(Seq([P.WhitespaceSplit(), Meta("▁", "always")]), N.NFKC()), [P.WhitespaceSplit(), Meta("▁", "always")], decoders.Metaspace("▁", "always"),
        [N.NFKC(), N.Replace(Regex(" {2,}"), " ")], ("</s>", "<unk>"), post=None)


def main():
    texts = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    with open(OUT, "w", encoding="ascii") as file:
        file.write(json.dumps({"parts": PARTS}) + "\n")
        for name, kinds, made in arrangements():
            state, cases = 0xCBF29CE484222325, []
            for number in range(texts):
                text = generate(number)
                ids = made.encode(text, add_special_tokens=False).ids
                state = hash_of(ids, state)
                if number < 20:
                    cases.append([text, ids])
            decoded = [[ids, made.decode(ids)] for _, ids in cases[::2]]
            line = {"name": name, "kinds": kinds, "tokenizer": json.loads(made.to_str()), "texts": texts, "hash": f"{state:016x}", "cases": cases,
                    "decoded": decoded}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            print(name, made.get_vocab_size(), f"{state:016x}")


if __name__ == "__main__":
    main()
