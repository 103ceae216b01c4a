// SentencePiece's unigram encoder: the segmentation whose pieces' scores sum to the most.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tokenizer/sentencepiece/model.h"
#include "tokenizer/sentencepiece/trie.h"

namespace ingot {

struct PieceToken {
  int32_t id;
  uint32_t size;  // bytes of normalised text
};

// SentencePiece sums in float32 from the beginning of the document, so which of two segmentations
// wins may depend, by rounding, on all the text before. Equal ids need that sum. Hugging Face
// tokenizers sums in double. A `Sum` here is one of the two types, the one the model was made for.
class UnigramEncoder {
 public:
  // SentencePiece, since 0.2.2, takes the sum down to zero when it leaves this range.
  static constexpr float kLargestSum = 100000;

  // Memory to work in, kept by the caller.
  struct Scratch {
    template <class Sum>
    struct End {  // of the best path to a position
      Sum score;
      int32_t id;
      uint32_t begin;  // of its last piece; kUnreached
    };
    struct ExactEnd {
      double score, second;  // of the two best paths
      int32_t id;
      uint32_t begin;
    };
    struct Start {
      uint32_t begin, end;     // of a character
      DoubleArray::Node node;  // where it leads to
    };
    std::vector<Start> starts;
    std::tuple<std::vector<End<float>>, std::vector<End<double>>> ends;
    std::vector<ExactEnd> exact_ends;
  };

  // `texts`: the pieces as they stand in normalised text, empty for those that never do.
  UnigramEncoder(const SentencePieceModel& model, const std::vector<std::string>& texts);

  // Replaces `tokens` by those of a part of the text that no piece reaches across, and `sum`, that
  // of the text before it, by that of the text up to its end: exactly what the other program
  // computes.
  template <class Sum>
  void encode(std::string_view part, Sum& sum, Scratch& scratch,
              std::vector<PieceToken>& tokens) const;

  // Replaces `tokens` by those that are best without rounding. Returns the bound below which the
  // magnitude of the sum before the part must lie for rounding not to change them; 0 or less: none.
  float encode_exactly(std::string_view part, Scratch& scratch,
                       std::vector<PieceToken>& tokens) const;

  template <class Sum>
  const std::vector<Sum>& scores() const {  // by id; what each adds to the sum
    return std::get<std::vector<Sum>>(scores_);
  }

 private:
  void find_starts(std::string_view part, std::vector<Scratch::Start>& starts) const;
  template <class Visit>
  void for_each_piece(std::string_view part, const Scratch::Start& start, const Visit& visit) const;

  DoubleArray trie_;
  std::tuple<std::vector<float>, std::vector<double>> scores_;  // the latter as exact as Sum is
  bool rounds_to_float_;                                        // Sum is float
  int32_t unknown_;
};

}  // namespace ingot
