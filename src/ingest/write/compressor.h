// Compression whose output depends on the blocks alone: no time, no name, one thread.
#pragma once

#include <memory>
#include <string_view>

namespace ingot {

class Compressor {
 public:
  virtual ~Compressor() = default;
  // What `block` adds to the compressed stream, valid until the next call; `last` ends it.
  virtual std::string_view compress(std::string_view block, bool last) = 0;
};

std::unique_ptr<Compressor> gzip_compressor();
std::unique_ptr<Compressor> zstd_compressor();

}  // namespace ingot
