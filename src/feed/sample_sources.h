// Which source the targets of a sample are from.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "feed/same_content.h"
#include "feed/sample_stream.h"

namespace ingot {

class SampleSources {
 public:
  // `parts`: those of the stream, in its order, by name. A part whose shards record their sources
  // counts as these; one name is one source, whichever parts it is in. Reads the names of all
  // documents. `stream` must outlive it.
  SampleSources(const SampleStream& stream, std::span<const NamedSource> parts);

  const std::vector<std::string>& names() const { return names_; }

  // Targets [begin, end) of a sample, whose row has T, are of one source.
  struct Range {
    size_t source = 0;  // of names()
    int64_t begin = 0, end = 0;
    int64_t bytes = 0;  // of their text, UTF-8; -1: the source does not know
  };
  // In order; padding is in none.
  std::vector<Range> of_sample(int64_t counter) const;

 private:
  struct Part {
    size_t source = 0;                  // where it has no origins
    std::vector<size_t> of_origin;      // sources by origin
    std::vector<uint16_t> of_document;  // origins by document
  };
  size_t source_of(std::string_view name);
  size_t source_at(const Part& part, int64_t document) const;

  const SampleStream& stream_;
  std::vector<std::string> names_;
  std::vector<Part> parts_;
};

}  // namespace ingot
