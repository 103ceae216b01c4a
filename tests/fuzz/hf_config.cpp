// config.json and model.safetensors.index.json on arbitrary bytes: a config that is taken is
// written and read back as the same model, files of an index lie beside it, stop ids are ids, or
// Error. Input: one byte that chooses, then the file.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/exchange/hf/config.h"
#include "checkpoint/exchange/hf/stop_ids.h"
#include "checkpoint/exchange/hf/tensors.h"
#include "core/error/error.h"

namespace {

// As of a generation_config.json.
void read_stop_ids(const std::string& text) {
  using namespace ingot;
  try {
    const std::vector<int32_t> ids =
        hf_stop_ids({{std::string(kHfGenerationName), text}}, INT32_MAX, "fuzz");
    for (size_t i = 0; i < ids.size(); ++i)
      if (ids[i] < 0 || (i > 0 && ids[i] <= ids[i - 1])) abort();
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ingot;
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    if (data[0] % 2 == 0) {
      for (const auto& [tensor, file] : parse_hf_index(bytes, "fuzz"))
        if (file.empty() || file == ".." || file.find('/') != std::string::npos) abort();
      return 0;
    }
    read_stop_ids(std::string(bytes));
    const HfModel read = parse_hf_config(bytes, "fuzz");
    const std::string written = hf_config_of(read.model, *read.architecture).dump();
    if (!(parse_hf_config(written, "again").model == read.model)) abort();
  } catch (const Error&) {
  }
  return 0;
}
