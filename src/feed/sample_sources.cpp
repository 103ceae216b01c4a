#include "feed/sample_sources.h"

#include <algorithm>
#include <utility>

#include "core/error/error.h"

namespace ingot {

SampleSources::SampleSources(const SampleStream& stream, std::span<const NamedSource> parts)
    : stream_(stream) {
  check(parts.size() == stream.parts().size(), ErrorCode::Internal,
        "a stream of {} parts expected as many names, got {}", stream.parts().size(), parts.size());
  for (const NamedSource& named : parts) {
    TokenSource::Origins origins = named.source->origins();
    Part part;
    if (origins.names.empty()) part.source = source_of(named.name);
    for (const std::string& name : origins.names) part.of_origin.push_back(source_of(name));
    part.of_document = std::move(origins.of_document);
    parts_.push_back(std::move(part));
  }
}

size_t SampleSources::source_of(std::string_view name) {
  const auto found = std::ranges::find(names_, name);
  const auto place = static_cast<size_t>(found - names_.begin());
  if (found == names_.end()) names_.emplace_back(name);
  return place;
}

size_t SampleSources::source_at(const Part& part, int64_t document) const {
  if (part.of_origin.empty()) return part.source;
  return part.of_origin.at(part.of_document.at(static_cast<size_t>(document)));
}

std::vector<SampleSources::Range> SampleSources::of_sample(int64_t counter) const {
  const SampleStream::Place place = stream_.at(counter);
  const StreamPart& from = stream_.parts()[static_cast<size_t>(place.part)];
  const Part& part = parts_[static_cast<size_t>(place.part)];
  const TokenSource& source = *from.source;
  std::vector<Piece> pieces;
  from.plan->pieces(place.sample, pieces);
  std::vector<Range> ranges;
  int64_t column = 0;  // of the row
  for (const Piece& piece : pieces) {
    // The target in a column is the token after the one that is read there.
    int64_t token = piece.begin + 1;
    const int64_t end = piece.begin + piece.length + (piece.continues ? 1 : 0);
    for (int64_t next = token, at = column; token < end; token = next, at = ranges.back().end) {
      const int64_t document = source.document_at(token);
      next = std::min(end, source.document_begin(document + 1));
      ranges.push_back({.source = source_at(part, document),
                        .begin = at,
                        .end = at + next - token,
                        .bytes = source.num_bytes(token, next)});
    }
    column += piece.length;
  }
  return ranges;
}

}  // namespace ingot
