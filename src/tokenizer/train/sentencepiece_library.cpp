#include "tokenizer/train/sentencepiece_library.h"

#include <sentencepiece_trainer.h>

#include <iostream>
#include <mutex>
#include <streambuf>

namespace {

// The library says how far it is on std::cerr alone. Lines that say so go to `log`, warnings
// nowhere, errors where they would have gone; a line without a mark goes the way of the one before.
class LogLines final : public std::streambuf {
 public:
  explicit LogLines(const std::function<void(const std::string&)>& log)
      : log_(log), original_(std::cerr.rdbuf(this)) {}
  ~LogLines() override { std::cerr.rdbuf(original_); }

 protected:
  int overflow(int c) override {
    const std::lock_guard lock(mutex_);
    if (c != '\n') {
      line_ += static_cast<char>(c);
      return c;
    }
    constexpr std::string_view kMark = "LOG(", kInfo = "LOG(INFO) ", kWarning = "LOG(WARNING) ";
    const size_t info = line_.find(kInfo);
    if (line_.find(kMark) != std::string::npos) {
      passes_on_ = info == std::string::npos && line_.find(kWarning) == std::string::npos;
    }
    if (info != std::string::npos) log_(line_.substr(info + kInfo.size()));
    if (passes_on_) {
      line_ += '\n';
      original_->sputn(line_.data(), static_cast<std::streamsize>(line_.size()));
    }
    line_.clear();
    return c;
  }

 private:
  const std::function<void(const std::string&)>& log_;
  std::streambuf* const original_;
  std::mutex mutex_;
  std::string line_;
  bool passes_on_ = true;
};

class Sentences final : public sentencepiece::SentenceIterator {
 public:
  explicit Sentences(const std::function<bool(std::string&)>& next) : next_(next) { Next(); }
  bool done() const override { return done_; }
  void Next() override { done_ = !next_(sentence_); }
  const std::string& value() const override { return sentence_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::function<bool(std::string&)>& next_;
  std::string sentence_;
  bool done_ = false;
};

}  // namespace

extern "C" void ingot_train_sentencepiece(
    const std::unordered_map<std::string, std::string>& arguments,
    const std::function<bool(std::string&)>& next,
    const std::function<void(const std::string&)>& log, std::string& model, std::string& error) {
  const LogLines lines(log);
  Sentences sentences(next);
  const auto status = sentencepiece::SentencePieceTrainer::Train(arguments, &sentences, &model);
  if (!status.ok()) error = status.ToString();
}
