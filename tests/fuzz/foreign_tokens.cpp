// Token files of other programs from arbitrary bytes: every id is one, or Error. Input: one byte
// that chooses the format, two of the length of the first file, the first file (.idx, .ds.index or
// .bin), then the second (.bin or .ds).
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "core/error/error.h"
#include "memory_files.h"
#include "shards/foreign/tokens.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  static ingot::fuzz::MemoryFiles files({"m.idx", "m.bin", "d.ds.index", "d.ds", "t.bin"});
  const std::string rest(reinterpret_cast<const char*>(data + 3), size - 3);
  const size_t split = std::min<size_t>(rest.size(), data[1] | data[2] << 8);
  std::string path;
  std::optional<ingot::ForeignFormat> format;
  switch (data[0] % 3) {
    case 0:
      path = files.write("m.idx", rest.substr(0, split));
      files.write("m.bin", rest.substr(split));
      break;
    case 1:
      files.write("d.ds.index", rest.substr(0, split));
      path = files.write("d.ds", rest.substr(split));
      break;
    default:
      path = files.write("t.bin", rest);
      if (data[1] % 2 == 0) format = ingot::ForeignFormat::NanoGpt;
      break;
  }
  try {
    const auto tokens = ingot::open_foreign_tokens(path, {5, 7}, 300, format);
    tokens->each_document([](std::span<const int32_t> ids, bool) {
      for (const int32_t id : ids) {
        if (id < 0 || id >= 300) abort();
      }
    });
  } catch (const ingot::Error&) {
  }
  return 0;
}
