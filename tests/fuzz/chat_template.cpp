// Chat templates, arbitrary: the parser throws Error, or gives a template that renders or throws
// Error, in bounded time and memory, and the same text twice. Input: the template.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "core/error/error.h"
#include "tokenizer/chat/chat_template.h"

namespace {

constexpr std::string_view kVariables =
    R"({"messages": [{"role": "system", "content": "Be \"brief\". "}, {"role": "user", "content": "é 你\n"},
        {"role": "assistant", "content": null, "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1.5}}}]}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}], "bos_token": "<s>",
        "eos_token": "</s>", "add_generation_prompt": true, "n": 3, "text": "héllo", "items": [1, 2, 3]})";

std::optional<std::string> rendered(const ingot::ChatTemplate& chat) {
  try {
    return chat.render(kVariables);
  } catch (const ingot::Error&) {
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view source(reinterpret_cast<const char*>(data), size);
  try {
    const ingot::ChatTemplate chat(source, "fuzz");
    const bool tells_the_time = source.find("strftime_now") != std::string_view::npos;
    if (rendered(chat) != rendered(chat) && !tells_the_time) abort();
  } catch (const ingot::Error&) {
  }
  return 0;
}
