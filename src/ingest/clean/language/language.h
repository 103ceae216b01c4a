// Language detection: a score for every label of a detector.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

// Thread-safe.
class LanguageDetector {
 public:
  virtual ~LanguageDetector() = default;

  virtual const std::vector<std::string>& labels() const = 0;
  // One score per label, from 0 to about 1; overwrites `scores`. `text` is valid UTF-8; newlines
  // count as spaces.
  virtual void score(std::string_view text, std::vector<float>& scores) const = 0;
  // The label of a language named by a user. Throws ErrorCode::Config with advice if this detector
  // cannot distinguish it.
  virtual size_t label_of(std::string_view language) const = 0;
};

// Built in: detects scripts, not languages. Labels are ISO 15924 codes, with Jpan for kana and the
// kanji around them; the score is the share of the letters. Supports a language if it is the only
// one in its script ("ja", "el"), so not "en" or "de".
std::unique_ptr<const LanguageDetector> make_script_detector();

// A supervised fastText model such as lid.176.bin, from the contents of its file, which are copied.
// Newlines must have been replaced. Throws Data if it is damaged, of another kind or quantised
// (.ftz); `name` is for the message.
std::unique_ptr<const LanguageDetector> make_fasttext_detector(std::string_view model,
                                                               const std::string& name);

}  // namespace ingot
