// SentencePiece's unigram encoder: finds the segmentation with the largest sum of scores.
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

// SentencePiece sums in float32 from the beginning of the document, so rounding makes the choice
// between two segmentations depend on all earlier text. Equal ids require the same sum. Hugging
// Face tokenizers sums in double. `Sum` is the type that the model was made for.
class UnigramEncoder {
 public:
  // Since 0.2.2 SentencePiece resets the sum to zero when it leaves this range.
  static constexpr float kLargestSum = 100000;

  // Scratch memory, owned by the caller.
  struct Scratch {
    template <class Sum>
    struct End {  // the best path to a position
      Sum score;
      int32_t id;
      uint32_t begin;  // start of its last piece, or kUnreached
    };
    struct ExactEnd {
      double score, second;  // of the two best paths
      int32_t id;
      uint32_t begin;
    };
    struct Start {
      uint32_t begin, end;     // of a character
      DoubleArray::Node node;  // node of that character
    };
    std::vector<Start> starts;
    std::tuple<std::vector<End<float>>, std::vector<End<double>>> ends;
    std::vector<ExactEnd> exact_ends;
  };

  // `texts`: the pieces as spelt in normalised text; empty for pieces that never occur there.
  UnigramEncoder(const SentencePieceModel& model, const std::vector<std::string>& texts);

  // Replaces `tokens` by the tokens of a part of the text that no piece crosses. `sum` is the score
  // of the text before the part, and becomes that of the text up to its end, with the reference's
  // rounding.
  template <class Sum>
  void encode(std::string_view part, Sum& sum, Scratch& scratch,
              std::vector<PieceToken>& tokens) const;

  // Replaces `tokens` by the best tokens without rounding. Returns the bound on the magnitude of
  // the sum before the part below which rounding cannot change them; 0 or less: no such bound.
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
  std::tuple<std::vector<float>, std::vector<double>> scores_;  // doubles as exact as Sum
  bool rounds_to_float_;                                        // Sum is float
  int32_t unknown_;
};

}  // namespace ingot
