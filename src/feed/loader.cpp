#include "feed/loader.h"

#include <algorithm>

#include "core/error/error.h"

namespace ingot {
namespace {

// For tokens [begin, end) of the source, the row's `first` the first of them: where the document of
// each begins within the row, or the piece if that is later. From the right, one look-up a document
// rather than one a token.
void fill_document_starts(const TokenSource& source, const Piece& piece, int64_t first,
                          int32_t* starts) {
  for (int64_t end = piece.length; end > 0;) {
    const int64_t start =
        std::max<int64_t>(0, source.document_start(piece.begin + end - 1) - piece.begin);
    std::fill(starts + first + start, starts + first + end, static_cast<int32_t>(first + start));
    end = start;
  }
}

}  // namespace

void Loader::fill(int64_t counter, int64_t B, Batch& batch) const {
  check(counter >= 0 && B > 0, ErrorCode::Internal, "batch of {} samples at counter {}", B,
        counter);
  const int64_t T = stream_.T();
  const auto numel = static_cast<size_t>(B * T);
  batch.counter = counter;
  batch.B = B;
  batch.T = T;
  batch.tokens.resize(numel);
  batch.targets.resize(numel);
  batch.document_start.resize(document_mask_ ? numel : 0);
  std::vector<int32_t> ids(static_cast<size_t>(T) + 1);
  std::vector<Piece> pieces;
  for (int64_t b = 0; b < B; ++b) {
    const SampleStream::Place place = stream_.at(counter + b);
    const StreamPart& part = stream_.parts()[static_cast<size_t>(place.part)];
    int32_t* tokens = batch.tokens.data() + b * T;                                     // (T)
    int32_t* targets = batch.targets.data() + b * T;                                   // (T)
    int32_t* starts = document_mask_ ? batch.document_start.data() + b * T : nullptr;  // (T)
    int64_t filled = 0;
    part.plan->pieces(place.sample, pieces);
    for (const Piece& piece : pieces) {
      const int64_t L = piece.length;
      part.source->read(piece.begin,
                        std::span(ids).first(static_cast<size_t>(L + piece.continues)));
      if (!piece.continues) ids[static_cast<size_t>(L)] = kPaddedTarget;
      std::copy_n(ids.begin(), L, tokens + filled);
      std::copy_n(ids.begin() + 1, L, targets + filled);
      if (document_mask_) fill_document_starts(*part.source, piece, filled, starts);
      filled += L;
    }
    std::fill(tokens + filled, tokens + T, 0);
    std::fill(targets + filled, targets + T, kPaddedTarget);
    // Padding is a document of its own.
    if (document_mask_) std::fill(starts + filled, starts + T, static_cast<int32_t>(filled));
  }
}

}  // namespace ingot
