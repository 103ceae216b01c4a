// Headers of checkpoint files on arbitrary bytes: each tensor lies inside the file, a manifest that
// is taken is written back equal, or Error. Input: one byte that chooses, then the file; the body
// of a manifest may get its checksum here (random bytes never have it).
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "core/error/error.h"
#include "core/text/hex.h"

namespace {

using namespace ingot;

void read_tensors(std::string_view bytes) {
  const auto storage = memory_storage();
  storage->create("f")->append(std::as_bytes(std::span(bytes)));
  const auto file = storage->open("f");
  for (const auto& [name, entry] : read_safetensors_header(*file, "f")) {
    if (entry.numel < 0 || entry.offset < 8) abort();
    if (entry.offset + entry.numel * size_of(entry.dtype) > file->size()) abort();
  }
}

std::string with_checksum(std::string_view body) {
  const auto json = nlohmann::json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return std::string(body);
  const std::string text = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return "{\"checkpoint\":" + text + ",\"xxh3\":\"" + hex(hash_text(text)) + "\"}";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  try {
    if (data[0] % 3 == 0) {
      read_tensors(bytes);
      return 0;
    }
    const std::string text = data[0] % 3 == 1 ? with_checksum(bytes) : std::string(bytes);
    const std::string written = to_text(parse_manifest(text, "fuzz"));
    if (to_text(parse_manifest(written, "again")) != written) abort();
  } catch (const Error&) {
  }
  return 0;
}
