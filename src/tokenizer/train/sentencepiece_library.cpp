#include "tokenizer/train/sentencepiece_library.h"

#include <sentencepiece_trainer.h>

namespace {

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
    const std::function<bool(std::string&)>& next, std::string& model, std::string& error) {
  Sentences sentences(next);
  const auto status = sentencepiece::SentencePieceTrainer::Train(arguments, &sentences, &model);
  if (!status.ok()) error = status.ToString();
}
