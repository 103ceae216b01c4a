#include "tokenizer/train/sentencepiece_trainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <exception>
#include <string_view>
#include <utility>

#include "core/error/error.h"
#include "core/system/module.h"
#include "core/text/utf8.h"
#include "tokenizer/train/sentencepiece_library.h"

namespace ingot {
namespace {

constexpr size_t kLongestSentence = 4192;               // bytes; SentencePiece's own default
constexpr int kThreads = 16;                            // also its default
constexpr std::string_view kReserved = "\xE2\x96\x85";  // U+2585: it skips a sentence with it

TrainFunction* load_library() {
  return reinterpret_cast<TrainFunction*>(
      load_module_function(kSentencePieceModule, kTrainFunction,
                           "training a SentencePiece model needs libsentencepiece (Debian package "
                           "libsentencepiece0) and our module for it"));
}

// Documents as sentences.
class SentenceStream {
 public:
  SentenceStream(const NextDocument& next, const SentencePieceTrainerOptions& options,
                 TrainedSentencePiece& trained)
      : next_(next), options_(options), trained_(trained) {}

  // False at the end, and after an exception, which is kept: the library must not see it.
  bool next(std::string& sentence) noexcept try {
    while (rest_.empty()) {
      if (!next_(document_)) return false;
      rest_ = document_;
      ++trained_.documents;
      trained_.bytes += static_cast<int64_t>(document_.size());
      trained_.characters += count_characters(document_);
      if (options_.progress) options_.progress(trained_.characters);
    }
    const size_t line = std::min(rest_.find('\n'), rest_.size());
    const size_t size = sentence_size(rest_.substr(0, line));
    sentence = rest_.substr(0, size);
    rest_.remove_prefix(std::min(rest_.size(), size + (size == line ? 1 : 0)));
    if (sentence.ends_with('\r')) sentence.pop_back();
    for (size_t at; (at = sentence.find(kReserved)) != std::string::npos;) {
      sentence.replace(at, kReserved.size(), " ");
    }
    return true;
  } catch (...) {
    failure_ = std::current_exception();
    return false;
  }

  void rethrow_failure() const {
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  static size_t sentence_size(std::string_view line) {
    if (line.size() <= kLongestSentence) return line.size();
    const size_t space = line.rfind(' ', kLongestSentence);
    if (space != std::string_view::npos && space > 0) return space;
    size_t size = kLongestSentence;
    while (size > 1 && text::is_continuation(line[size])) --size;
    return size;
  }

  const NextDocument& next_;
  const SentencePieceTrainerOptions& options_;
  TrainedSentencePiece& trained_;
  std::string document_;
  std::string_view rest_;
  std::exception_ptr failure_;
};

std::unordered_map<std::string, std::string> arguments_of(
    const SentencePieceTrainerOptions& options) {
  for (const std::string& special : options.special_tokens) {
    check(!special.empty() && special.find_first_of(",\"") == std::string::npos, ErrorCode::Usage,
          "special token «{}»: SentencePiece takes none that is empty or has a comma or quote",
          special);
  }
  check(options.character_coverage >= 0.98 && options.character_coverage <= 1, ErrorCode::Usage,
        "character coverage: expected 0.98 to 1, got {}", options.character_coverage);
  const bool unigram = options.kind == SentencePieceModel::Kind::Unigram;
  std::unordered_map<std::string, std::string> arguments{
      {"model_type", unigram ? "unigram" : "bpe"},
      {"vocab_size", std::to_string(options.vocab_size)},
      {"character_coverage", fmt::format("{}", options.character_coverage)},
      {"byte_fallback", "true"},
      {"normalization_rule_name", "identity"},
      {"remove_extra_whitespaces", "false"},
      {"allow_whitespace_only_pieces", "true"},
      {"max_sentence_length", std::to_string(kLongestSentence)},
      {"num_threads", std::to_string(kThreads)},
      {"minloglevel", "0"},  // it says how far it is
  };
  if (!options.special_tokens.empty()) {
    arguments["control_symbols"] = fmt::format("{}", fmt::join(options.special_tokens, ","));
  }
  return arguments;
}

// The number after `label`; empty: none.
std::string number_after(const std::string& line, std::string_view label) {
  const size_t at = line.find(label);
  if (at == std::string::npos) return "";
  const size_t begin = at + label.size();
  return line.substr(begin, line.find_first_not_of("0123456789", begin) - begin);
}

// A line of the library's log as a step; lines that say nothing to a user are left out.
void tell_step(const std::string& line, const SentencePieceTrainerOptions& options) {
  if (!options.on_step) return;
  const auto tell = [&](bool is_new, std::string_view before, const std::string& number,
                        std::string_view after) {
    if (!number.empty()) options.on_step(fmt::format("{}{}{}", before, number, after), is_new);
  };
  tell(true, "", number_after(line, "Loaded all "), " sentences are read");
  tell(true, "", number_after(line, "Initialized "), " seed pieces found");
  if (line.starts_with("Making suffix array")) options.on_step("looking for seed pieces", true);
  if (line.starts_with("EM sub_iter=")) {
    tell(line.starts_with("EM sub_iter=0 "), "EM: ", number_after(line, " size="),
         fmt::format(" pieces left, of which {} stay", options.vocab_size));
  }
  if (line.starts_with("Added: freq=")) tell(false, "", number_after(line, " size="), " merges");
}

}  // namespace

TrainedSentencePiece train_sentencepiece(const NextDocument& next,
                                         const SentencePieceTrainerOptions& options) {
  const auto arguments = arguments_of(options);
  TrainFunction* const train = load_library();
  TrainedSentencePiece trained;
  SentenceStream stream(next, options, trained);
  std::string error;
  train(
      arguments, [&](std::string& sentence) { return stream.next(sentence); },
      [&](const std::string& line) { tell_step(line, options); }, trained.file, error);
  stream.rethrow_failure();
  const std::string most = number_after(error, "Please set it to a value <= ");
  check(most.empty(), ErrorCode::Usage,
        "--vocab {}: {} characters of text give at most {} pieces of this type: give --vocab {} or "
        "less, or more text",
        options.vocab_size, trained.characters, most, most);
  check(error.empty(), ErrorCode::Data, "training a SentencePiece model on {} characters: {}",
        trained.characters, error);
  return trained;
}

}  // namespace ingot
