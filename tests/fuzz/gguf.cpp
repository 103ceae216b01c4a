// GGUF files on arbitrary bytes: each tensor lies inside the file and on no other one, a model is
// one that can be, a tokenizer encodes and decodes, or Error. Input: a byte n, the file, and the
// last n bytes as text.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "checkpoint/exchange/gguf/config.h"
#include "checkpoint/exchange/gguf/header.h"
#include "checkpoint/exchange/gguf/vocabulary.h"
#include "core/error/error.h"
#include "core/error/log.h"
#include "tokenizer/tokenizer.h"

namespace {

using namespace ingot;

void check_tensors(const GgufHeader& header, int64_t file_bytes) {
  std::map<int64_t, int64_t> ranges;  // end by begin
  for (const auto& [name, entry] : header.tensors) {
    const int64_t end = entry.offset + gguf_bytes(entry.tensor);
    if (entry.offset < 0 || end <= entry.offset || end > file_bytes) abort();
    if (!ranges.emplace(entry.offset, end).second) abort();
  }
  int64_t at = 0;
  for (const auto& [begin, end] : ranges) {
    if (begin < at) abort();
    at = end;
  }
}

std::vector<float> divisors_of(const ReadableFile& file, const GgufHeader& header) {
  const auto found = header.tensors.find("rope_freqs.weight");
  if (found == header.tensors.end() || found->second.tensor.type != GgufType::F32) return {};
  std::vector<float> values(static_cast<size_t>(found->second.tensor.shape.numel()));
  file.read(found->second.offset, std::as_writable_bytes(std::span(values)));
  return values;
}

void read_model(const ReadableFile& file, const GgufHeader& header) {
  try {
    validate(gguf_model_of(header, divisors_of(file, header), true).model);
  } catch (const Error&) {
  }
}

void read_text(const GgufHeader& header, const std::string& text) {
  const GgufText found = gguf_text_of(header, true);
  const auto files = memory_storage();
  write_file_atomically(*files, "tokenizer.bin", found.tokenizer);
  const auto tokenizer = load_tokenizer(*files, "tokenizer.bin");
  for (const int32_t id : tokenizer->encode(text))
    if (id < 0 || id >= tokenizer->vocab_size()) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  log::configure(log::Level::Off, log::Format::Text);
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t text_size = std::min<size_t>(data[0], rest.size());
  const std::string_view bytes = rest.substr(0, rest.size() - text_size);
  try {
    const auto storage = memory_storage();
    storage->create("f")->append(std::as_bytes(std::span(bytes)));
    const auto file = storage->open("f");
    const GgufHeader header = read_gguf_header(*file, "f");
    check_tensors(header, file->size());
    read_model(*file, header);
    read_text(header, std::string(rest.substr(bytes.size())));
  } catch (const Error&) {
  }
  return 0;
}
