// Megatron's index on arbitrary bytes: it opens and everything it describes can be read, or it
// throws Error. Input: one byte, the size of the .bin file; then the index.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/error/error.h"
#include "shards/foreign/megatron_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const std::string folder = [] {
    const auto path = std::filesystem::temp_directory_path() /
                      ("ingot_fuzz_megatron_" + std::to_string(getpid()));
    std::filesystem::create_directories(path);
    return path.string();
  }();
  const std::string bin = folder + "/a.bin";
  static int written = -1;  // bytes of the .bin file, which most inputs share
  if (written != data[0]) std::ofstream(bin, std::ios::binary) << std::string(data[0], '\1');
  written = data[0];
  std::ofstream(folder + "/a.idx", std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  try {
    const auto source = ingot::open_megatron_file(bin, 70'000'000);
    std::vector<int32_t> ids(static_cast<size_t>(source->num_tokens()));
    source->read(0, ids);
    for (int64_t p = 0; p < source->num_tokens(); ++p) {
      const int64_t d = source->document_at(p);
      if (p < source->document_begin(d) || p >= source->document_begin(d + 1)) abort();
    }
  } catch (const ingot::Error&) {
  }
  return 0;
}
