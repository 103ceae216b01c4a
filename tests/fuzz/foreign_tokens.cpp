// Token files of other programs from arbitrary bytes: every id is one, or Error. Input: one byte
// that chooses the format, two of the length of the first file, the first file (.idx, .ds.index or
// .bin), then the second (.bin or .ds).
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/error.h"
#include "data/shards/foreign_tokens.h"

namespace {

const std::string& folder() {
  static const std::string path = [] {
    const auto made = std::filesystem::temp_directory_path() /
                      ("ingot_fuzz_foreign_tokens_" + std::to_string(getpid()));
    std::filesystem::create_directories(made);
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return made.string();
  }();
  return path;
}

std::string write(const char* name, const std::string& bytes) {
  const std::string path = folder() + "/" + name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 3) return 0;
  const std::string rest(reinterpret_cast<const char*>(data + 3), size - 3);
  const size_t split = std::min<size_t>(rest.size(), data[1] | data[2] << 8);
  std::string path;
  switch (data[0] % 3) {
    case 0:
      path = write("m.idx", rest.substr(0, split));
      write("m.bin", rest.substr(split));
      break;
    case 1:
      write("d.ds.index", rest.substr(0, split));
      path = write("d.ds", rest.substr(split));
      break;
    default:
      path = write("t.bin", rest);
      break;
  }
  try {
    // Documents may overlap in Megatron's files: so that a small file does not stand for a long
    // read, the sum is bounded here.
    int64_t budget = 1 << 20;
    const auto tokens = ingot::open_foreign_tokens(path, {5, 7});
    tokens->each_document([&](std::span<const int32_t> ids, bool) {
      for (const int32_t id : ids) {
        if (id < 0) abort();
      }
      budget -= static_cast<int64_t>(ids.size());
      if (budget < 0) throw ingot::Error(ingot::ErrorCode::Data, "enough");
    });
  } catch (const ingot::Error&) {
  }
  return 0;
}
