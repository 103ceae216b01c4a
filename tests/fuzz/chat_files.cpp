// What a tokenizer's folder says of conversations, and a conversation, both arbitrary: read or
// Error. Input: tokenizer_config.json, a zero byte, the conversation.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "core/error/error.h"
#include "core/storage/storage.h"
#include "tokenizer/chat/chat_template.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t zero = std::min(input.find('\0'), size);
  const auto storage = ingot::memory_storage();
  storage->make_directories("folder");
  storage->create("folder/tokenizer_config.json")
      ->append(std::as_bytes(std::span(input.substr(0, zero))));
  try {
    const ingot::ChatFiles files = ingot::read_chat_files(*storage, "folder");
    const ingot::ChatFiles::Source& source = files.chosen(size % 2 == 0, "folder");
    const ingot::ChatTemplate chat(source.text, source.origin);
    chat.render(files.variables);
    chat.render(input.substr(std::min(zero + 1, size)));
  } catch (const ingot::Error&) {
  }
  return 0;
}
