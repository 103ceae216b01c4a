#include "ingest/clean/filters/language.h"

#include <algorithm>

#include "ingest/clean/language/language.h"

namespace ingot {
namespace {

class LanguageFilter final : public Filter {
 public:
  LanguageFilter(const LanguageSettings& settings, CleanFiles& files)
      : settings_(settings),
        detector_(settings.model.empty()
                      ? make_script_detector()
                      : make_fasttext_detector(files.read(settings.model), settings.model)) {
    for (const std::string& language : settings.languages) {
      requested_.push_back(detector_->label_of(language));
    }
  }

  std::string_view judge(Passage& passage) const override {
    std::vector<float>& scores = passage.scratch.scores;
    if (settings_.as_datatrove_0_2) {
      std::string joined(passage.text());
      std::erase(joined, '\n');
      detector_->score(joined, scores);
    } else {
      detector_->score(passage.text(), scores);
    }
    const auto best =
        static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    const auto passes = [&](size_t label) {
      const bool counts = !settings_.as_datatrove_0_2 || label == best;
      return counts && static_cast<double>(scores[label]) > settings_.min_score;
    };
    const bool keeps = requested_.empty()
                           ? passes(best)
                           : std::any_of(requested_.begin(), requested_.end(), passes);
    if (!keeps) return "language";
    passage.document.language = detector_->labels()[best];
    return {};
  }

 private:
  LanguageSettings settings_;
  std::shared_ptr<const LanguageDetector> detector_;
  std::vector<size_t> requested_;
};

}  // namespace

void LanguageSettings::apply_preset(CleanVersion version) {
  enabled = true;
  languages.clear();
  if (version == CleanVersion::FinewebV1) languages = {"en"};
}

std::unique_ptr<Filter> LanguageSettings::make(CleanFiles& files) const {
  return std::make_unique<LanguageFilter>(*this, files);
}

std::unique_ptr<FilterSettings> filter_language() {
  return std::make_unique<LanguageSettings>();
}

}  // namespace ingot
