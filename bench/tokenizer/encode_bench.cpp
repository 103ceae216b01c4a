// How fast one thread encodes: encode_bench TOKENIZER DOCUMENT_BYTES ROUNDS TEXT…
//
// Texts are cut into documents at the first line end after DOCUMENT_BYTES (0: not cut). Prints one
// line of JSON: bytes, tokens, and CPU seconds of the thread for the first round, when the caches
// hold the vocabulary alone, and for the best one. compare_encode_speed.py runs it beside others.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/storage/storage.h"
#include "tokenizer/tokenizer.h"

namespace {

double thread_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::vector<std::string_view> documents_of(std::string_view text, size_t bytes) {
  std::vector<std::string_view> documents;
  while (!text.empty()) {
    const size_t line_end = bytes == 0 ? text.size() : text.find('\n', bytes - 1);
    documents.push_back(text.substr(0, std::min(line_end, text.size() - 1) + 1));
    text.remove_prefix(documents.back().size());
  }
  return documents;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) {
    fmt::print(stderr, "usage: encode_bench TOKENIZER DOCUMENT_BYTES ROUNDS TEXT…\n");
    return 2;
  }
  const auto storage = ingot::posix_storage();
  const auto tokenizer = ingot::load_tokenizer(*storage, argv[1]);
  tokenizer->encode(" ");  // builds what is built once

  std::vector<std::string> texts;
  for (int i = 4; i < argc; ++i) texts.push_back(ingot::read_text(*storage, argv[i]));
  std::vector<std::string_view> documents;
  size_t bytes = 0;
  for (const std::string& text : texts) {
    bytes += text.size();
    for (const auto document : documents_of(text, std::stoul(argv[2])))
      documents.push_back(document);
  }

  std::vector<double> seconds;
  size_t tokens = 0;
  for (int round = 0; round < std::stoi(argv[3]); ++round) {
    tokens = 0;
    const double start = thread_seconds();
    std::vector<int32_t> ids;
    for (const std::string_view document : documents) {
      ids.clear();
      tokenizer->encode(document, ids);
      tokens += ids.size();
    }
    seconds.push_back(thread_seconds() - start);
  }
  fmt::print("{{\"bytes\":{},\"tokens\":{},\"first\":{},\"best\":{}}}\n", bytes, tokens, seconds[0],
             *std::min_element(seconds.begin(), seconds.end()));
}
