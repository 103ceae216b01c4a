#include "tokenizer/train/bpe_trainer.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/error/error.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/train/count_pieces.h"
#include "tokenizer/train/merge_corpus.h"

namespace ingot {
namespace {

constexpr int64_t kMergesPerReport = 256;

void check_options(const BpeTrainerOptions& options) {
  const auto num_specials = static_cast<int64_t>(options.special_tokens.size());
  check(options.vocab_size >= 256 + num_specials, ErrorCode::Usage,
        "vocabulary size: expected at least {}, for 256 bytes and {} special tokens, got {}",
        256 + num_specials, num_specials, options.vocab_size);
  check(options.vocab_size <= std::numeric_limits<int32_t>::max(), ErrorCode::Usage,
        "vocabulary size: expected less than 2^31, got {}", options.vocab_size);
  check(options.max_token_length >= 0, ErrorCode::Usage,
        "longest token: expected 0 (no limit) or a length, got {}", options.max_token_length);
  std::unordered_set<std::string_view> seen;
  for (const std::string& special : options.special_tokens) {
    check(special.size() >= 2, ErrorCode::Usage,
          "special token «{}»: expected two bytes or more, since every byte is a token", special);
    check(seen.insert(special).second, ErrorCode::Usage,
          "special token «{}» is given twice: expected different ones", special);
  }
}

// Bytes sorted by the code points that GPT-2's byte alphabet gives them: the printable characters
// of Latin-1 stand for themselves, the other bytes follow.
std::array<uint8_t, 256> bytes_in_alphabet_order() {
  const auto printable = [](uint8_t byte) {
    return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
  };
  std::array<uint8_t, 256> order;
  for (size_t byte = 0; byte < 256; ++byte) order[byte] = static_cast<uint8_t>(byte);
  std::stable_partition(order.begin(), order.end(), printable);
  return order;
}

// The vocabulary as it grows.
class Vocabulary {
 public:
  explicit Vocabulary(const BpeTrainerOptions& options)
      : options_(options), specials_(options.special_tokens.begin(), options.special_tokens.end()) {
    if (options.ties == Ties::Hf) append_specials();
    const auto alphabet = bytes_in_alphabet_order();
    for (size_t i = 0; i < 256; ++i) {
      const uint8_t byte = options.ties == Ties::Hf ? alphabet[i] : static_cast<uint8_t>(i);
      byte_ids_[byte] = static_cast<uint32_t>(model_.tokens.size());
      model_.tokens.emplace_back(1, static_cast<char>(byte));
    }
  }

  const std::array<uint32_t, 256>& byte_ids() const { return byte_ids_; }

  bool full() const {
    const size_t to_come = options_.ties == Ties::Raw ? options_.special_tokens.size() : 0;
    return static_cast<int64_t>(model_.tokens.size() + to_come) >= options_.vocab_size;
  }

  // The id of the token that the pair becomes, if it may. It is new: while all occurrences of a
  // pair are merged, equal bytes between two borders of tokens are always the same tokens, so that
  // none can come about by a second pair (docs/tokenizer-training.md has the proof).
  std::optional<uint32_t> merge(TokenPair pair) {
    const auto left = left_of(pair), right = right_of(pair);
    std::string bytes = model_.tokens[left] + model_.tokens[right];
    if (specials_.contains(bytes)) return {};  // text must not turn into a special token
    const auto id = static_cast<uint32_t>(model_.tokens.size());
    model_.tokens.push_back(std::move(bytes));
    model_.merges.push_back(
        {static_cast<int32_t>(left), static_cast<int32_t>(right), static_cast<int32_t>(id)});
    return id;
  }

  BpeModel finish() {
    if (options_.ties == Ties::Raw) append_specials();
    set_bos_and_eos(model_, bos_and_eos_of(model_.added));
    return std::move(model_);
  }

 private:
  void append_specials() {
    for (const std::string& special : options_.special_tokens) {
      AddedToken added;
      added.content = special;
      added.id = static_cast<int32_t>(model_.tokens.size());
      added.special = true;
      model_.added.push_back(added);
      model_.tokens.push_back(special);
    }
  }

  const BpeTrainerOptions& options_;
  std::array<uint32_t, 256> byte_ids_{};
  BpeModel model_;
  std::unordered_set<std::string> specials_;
};

// No vocabulary is larger than one token for each byte of the distinct pieces.
uint32_t largest_vocabulary(const std::vector<PieceCount>& pieces,
                            const BpeTrainerOptions& options) {
  size_t bound = 256 + options.special_tokens.size();
  for (const PieceCount& piece : pieces) bound += piece.bytes.size();
  return static_cast<uint32_t>(std::min<size_t>(bound, static_cast<size_t>(options.vocab_size)));
}

// No count can exceed the bytes of all pieces.
void check_counts(const std::vector<PieceCount>& pieces) {
  int64_t left = std::numeric_limits<int64_t>::max();
  for (const PieceCount& piece : pieces) {
    const auto size = static_cast<int64_t>(piece.bytes.size());
    check(size > 0 && piece.count > 0, ErrorCode::Data,
          "piece «{}»: expected a byte or more and a positive count, got {}", piece.bytes,
          piece.count);
    check(piece.count <= left / size, ErrorCode::Data,
          "pieces to train on: expected less than 2^63 bytes in all");
    left -= piece.count * size;
  }
}

MergeCorpus corpus_of(std::vector<PieceCount> pieces, const Vocabulary& vocabulary,
                      const BpeTrainerOptions& options) {
  check_counts(pieces);
  const uint32_t bound = largest_vocabulary(pieces, options);
  return MergeCorpus(std::move(pieces), vocabulary.byte_ids(), bound,
                     static_cast<uint64_t>(options.max_token_length),
                     std::max<int64_t>(options.min_frequency, 1));
}

BpeModel merge_all(Vocabulary vocabulary, MergeCorpus corpus, const BpeTrainerOptions& options,
                   int64_t characters) {
  WaitingPair best;
  int64_t num_merges = 0;
  while (!vocabulary.full() && corpus.pop(best)) {
    const std::optional<uint32_t> id = vocabulary.merge(best.pair);
    if (!id) continue;
    corpus.merge(best, *id);
    if (options.progress && ++num_merges % kMergesPerReport == 0) {
      options.progress(characters, num_merges);
    }
  }
  return vocabulary.finish();
}

}  // namespace

TrainedBpe train_bpe(const NextDocument& next, const Splitter& split,
                     const BpeTrainerOptions& options, ThreadPool& pool) {
  check_options(options);
  CountedText text = count_pieces(next, split, pool, [&](int64_t characters) {
    if (options.progress) options.progress(characters, 0);
  });
  Vocabulary vocabulary(options);
  std::vector<PieceCount> pieces = text.distinct_pieces();
  const auto distinct = static_cast<int64_t>(pieces.size());
  MergeCorpus corpus = corpus_of(std::move(pieces), vocabulary, options);
  text.tables.clear();  // the corpus has its own copy; memory for the merges
  TrainedBpe trained;
  trained.model = merge_all(std::move(vocabulary), std::move(corpus), options, text.characters);
  trained.documents = text.documents;
  trained.characters = text.characters;
  trained.bytes = text.bytes;
  trained.pieces = text.pieces;
  trained.distinct_pieces = distinct;
  return trained;
}

BpeModel train_bpe(const std::vector<PieceCount>& pieces, const BpeTrainerOptions& options) {
  check_options(options);
  Vocabulary vocabulary(options);
  MergeCorpus corpus = corpus_of(pieces, vocabulary, options);
  return merge_all(std::move(vocabulary), std::move(corpus), options, 0);
}

}  // namespace ingot
