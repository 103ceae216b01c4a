// .tiktoken files: «base64 rank» a line.
#include <algorithm>
#include <charconv>

#include "core/error/error.h"
#include "tokenizer/bpe/base64.h"
#include "tokenizer/bpe/model.h"

namespace ingot {

BpeModel parse_tiktoken(std::string_view file, std::string_view origin) {
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
