// Any bytes through byte-level BPE, with each pattern: they come back, also when the text is cut
// and encoded by parts, and a second time gives the same ids. Input: a byte that says the pattern,
// a byte for the cut, then the text.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/device/thread_pool.h"
#include "tokenizer/bpe/split.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/train/bpe_trainer.h"

namespace {

constexpr std::string_view kTrainingText =
    "The theory of the thing isn't there; they're 1234 12345 things.\n\n\tif (x == 10) { return; "
    "}\n"
    "早上好，世界。你好你好世界 世界のことば ことばのことば    spaces   "
    "\xF0\x9F\x98\x80\xF0\x9F\x98\x80";

std::unique_ptr<ingot::Tokenizer> make(ingot::Split split) {
  ingot::BpeTrainerOptions options;
  options.vocab_size = 400;
  options.special_tokens = {"<|endoftext|>"};
  ingot::ThreadPool pool(1);
  bool given = false;
  ingot::BpeModel model = ingot::train_bpe(
                              [&](std::string& document) {
                                document = kTrainingText;
                                return !std::exchange(given, true);
                              },
                              [&](std::string_view text, std::vector<uint32_t>& ends) {
                                ingot::split_text(split, text, ends);
                              },
                              options, pool)
                              .model;
  model.split = split;
  return ingot::bpe_tokenizer(std::move(model), "fuzz");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto tokenizers = [] {
    std::vector<std::unique_ptr<ingot::Tokenizer>> made;
    for (const ingot::Split split : ingot::kAllSplits) made.push_back(make(split));
    return made;
  }();
  if (size < 2) return 0;
  const size_t which = data[0] % tokenizers.size();
  const ingot::Tokenizer& tokenizer = *tokenizers[which];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::vector<int32_t> ids = tokenizer.encode(text);
  if (tokenizer.decode(ids) != text || tokenizer.encode(text) != ids) abort();

  const size_t limit = text.size() * data[1] / 256;
  const size_t cut = ingot::safe_cut(ingot::kAllSplits[which], text, limit);
  std::vector<int32_t> parts = tokenizer.encode(text.substr(0, cut));
  tokenizer.encode(text.substr(cut), parts);
  if (parts != ids) abort();
  return 0;
}
