// .tiktoken files: «base64 rank» a line.
#include <algorithm>
#include <charconv>

#include "core/error.h"
#include "tokenizer/bpe_model.h"
#include "tokenizer/special_tokens.h"

namespace ingot {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

std::string to_base64(std::string_view bytes) {
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t j = i; j < i + 3; ++j) {
      group = group << 8 | (j < bytes.size() ? static_cast<uint8_t>(bytes[j]) : 0u);
    }
    for (size_t digit = 0; digit < 4; ++digit) {
      const bool padding = i + digit > bytes.size();
      text += padding ? '=' : kDigits[group >> (18 - 6 * digit) & 63];
    }
  }
  return text;
}

// Empty when `text` is not base64, or spells nothing.
std::string from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return {};
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string bytes;
  uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return {};
    group = (group << 6 | static_cast<uint32_t>(digit)) & 0xFFFF;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes += static_cast<char>(group >> bits);
    }
  }
  return bytes;
}

}  // namespace

BpeModel parse_tiktoken(std::string_view file, std::string_view encoding, std::string_view origin) {
  BpeModel model;
  model.whole_piece_first = true;
  const size_t most_lines = file.size() / 6 + 1;  // "YQ== 0" is the shortest
  for (size_t begin = 0, line_number = 1; begin < file.size(); ++line_number) {
    const size_t end = std::min(file.find('\n', begin), file.size());
    std::string_view line = file.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const size_t space = line.find(' ');
    check(space != std::string_view::npos, ErrorCode::Data,
          "{}:{}: expected «base64 rank», got {} bytes without a space", origin, line_number,
          line.size());
    std::string token = from_base64(line.substr(0, space));
    const std::string_view digits = line.substr(space + 1);
    uint32_t rank = 0;
    const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
    check(!token.empty() && error == std::errc() && rest == digits.data() + digits.size(),
          ErrorCode::Data, "{}:{}: expected «base64 rank»", origin, line_number);
    check(rank < 4 * most_lines + 65536, ErrorCode::Data,
          "{}:{}: rank {} is far beyond the lines of the file", origin, line_number, rank);
    if (model.tokens.size() <= rank) model.tokens.resize(rank + 1);
    check(model.tokens[rank].empty(), ErrorCode::Data, "{}:{}: rank {} is there already", origin,
          line_number, rank);
    model.tokens[rank] = std::move(token);
  }
  check(!model.tokens.empty(), ErrorCode::Data, "{}: no tokens in it", origin);
  model.merges = merges_of_ranks(model.tokens, origin);
  if (apply_encoding(encoding, model)) name_bos_and_eos(model);
  return model;
}

std::string to_tiktoken(const BpeModel& model) {
  std::vector<std::string> tokens = model.tokens;
  for (const AddedToken& added : model.added) tokens[added.id].clear();
  check(model.merges == merges_of_ranks(tokens, "the tokenizer"), ErrorCode::Data,
        "this tokenizer cannot be written as .tiktoken, where ids are ranks: its merges are in "
        "another order, or not those that its tokens would give");
  std::string file;
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (!tokens[id].empty()) file += fmt::format("{} {}\n", to_base64(tokens[id]), id);
  }
  return file;
}

}  // namespace ingot
