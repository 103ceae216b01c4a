// Which language is a text in? A score for every label a detector knows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Any number of threads may share one.
class LanguageDetector {
 public:
  virtual ~LanguageDetector() = default;

  virtual const std::vector<std::string>& labels() const = 0;
  // One score per label, from 0 to about 1; overwrites `scores`. `text` is valid UTF-8; its
  // newlines count as spaces.
  virtual void score(std::string_view text, std::vector<float>& scores) const = 0;
  // The label to look at for a language that a user asks for. Throws ErrorCode::Config, saying what
  // would help, where this detector cannot tell it from others.
  virtual size_t label_of(std::string_view language) const = 0;
};

// Built in: tells scripts apart, not languages. Labels are ISO 15924 codes, with Jpan for kana and
// the kanji around them; the score is the share of the letters. It knows a language by its script
// where that is written by it alone ("ja", "el"), so it does not know "en" or "de".
std::unique_ptr<const LanguageDetector> make_script_detector();

// A supervised fastText model such as lid.176.bin, from the contents of its file, of which it keeps
// a copy. Newlines must have been replaced. Throws Data when it is damaged, of another kind or
// quantised (.ftz); `name` is for the message.
std::unique_ptr<const LanguageDetector> make_fasttext_detector(std::string_view model,
                                                               const std::string& name);

}  // namespace ingot
