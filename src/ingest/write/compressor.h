// Deterministic compression: the output depends only on the blocks, not on time, names or threads.
#pragma once

#include <memory>
#include <string_view>

namespace ingot {

class Compressor {
 public:
  virtual ~Compressor() = default;
  // The compressed bytes of `block`, valid until the next call; `last` ends the stream.
  virtual std::string_view compress(std::string_view block, bool last) = 0;
};

std::unique_ptr<Compressor> gzip_compressor();
std::unique_ptr<Compressor> zstd_compressor();

}  // namespace ingot
