#include "ingest/clean/cleaner.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.h"
#include "core/text/utf8.h"

namespace ingot {

Cleaner::Cleaner(CleanSettings settings, CleanResources resources)
    : settings_(std::move(settings)),
      splitter_(make_splitter(settings_.splitter, resources.punkt ? &*resources.punkt : nullptr)) {
  validate(settings_);
  if (settings_.url.enabled) url_filter_.emplace(settings_.url, resources.urls);
  if (settings_.bad_words.enabled) {
    check(!resources.bad_words.empty(), ErrorCode::Config,
          "clean.bad_words: expected a list of words, got none");
    bad_words_.emplace(settings_.bad_words, resources.bad_words);
  }
  if (settings_.language.enabled) {
    language_ = resources.language
                    ? std::move(resources.language)
                    : std::shared_ptr<const LanguageDetector>(make_script_detector());
    for (const std::string& language : settings_.language.languages) {
      requested_labels_.push_back(language_->label_of(language));
    }
  }
}

CleanCounts& CleanCounts::operator+=(const CleanCounts& other) {
  documents += other.documents;
  kept += other.kept;
  bytes_in += other.bytes_in;
  bytes_kept += other.bytes_kept;
  without_url += other.without_url;
  for (const auto& [name, count] : other.removed) removed[name] += count;
  for (size_t i = 0; i < lines.size(); ++i) lines[i] += other.lines[i];
  pii.emails += other.pii.emails;
  pii.ips += other.pii.ips;
  return *this;
}

Verdict CleanWorker::clean(Document& document) {
  ++counts_.documents;
  counts_.bytes_in += static_cast<int64_t>(document.text.size());
  const Verdict verdict = judge(document);
  for (size_t i = 0; i < verdict.lines.size(); ++i) counts_.lines[i] += verdict.lines[i];
  if (verdict.kept()) {
    const PiiCounts pii = mask_pii(cleaner_.settings_.pii, document.text);
    counts_.pii.emails += pii.emails;
    counts_.pii.ips += pii.ips;
    ++counts_.kept;
    counts_.bytes_kept += static_cast<int64_t>(document.text.size());
  } else {
    ++counts_.removed[fmt::format("{} {}", verdict.step, verdict.reason)];
  }
  return verdict;
}

Verdict CleanWorker::judge(Document& document) {
  const CleanSettings& s = cleaner_.settings_;
  const Splitter& splitter = *cleaner_.splitter_;
  const std::string_view original = document.text;
  if (original.empty()) return {"input", "empty"};
  if (static_cast<int64_t>(original.size()) > s.max_document_bytes) return {"input", "too_large"};
  if (valid_utf8_prefix(original) != original.size()) return {"input", "invalid_utf8"};

  if (cleaner_.url_filter_) {
    if (document.url.empty()) {
      ++counts_.without_url;
    } else if (const auto reason = cleaner_.url_filter_->filter(document.url); !reason.empty()) {
      return {"url", reason};
    }
  }
  if (cleaner_.language_) {
    if (const auto reason = judge_language(document); !reason.empty()) return {"language", reason};
  }
  if (s.length.enabled) {
    if (const auto reason = length_rules(s.length, original); !reason.empty())
      return {"length", reason};
  }
  if (s.gopher_repetition.enabled || s.gopher_quality.enabled)
    splitter.words(original, scratch_.words);
  if (s.gopher_repetition.enabled) {
    const auto reason = gopher_repetition(s.gopher_repetition, original, scratch_.words, scratch_);
    if (!reason.empty()) return {"gopher_repetition", reason};
  }
  if (s.gopher_quality.enabled) {
    const auto reason = gopher_quality(s.gopher_quality, s.version, original, scratch_.words);
    if (!reason.empty()) return {"gopher_quality", reason};
  }

  Verdict verdict;
  const auto removed = [&](std::string_view step, std::string_view reason) {
    verdict.step = step;
    verdict.reason = reason;
    return verdict;
  };
  std::string_view text = original;
  if (s.c4.enabled) {
    const auto reason = c4_quality(s.c4, s.version, original, splitter, scratch_, verdict.lines);
    if (!reason.empty()) return removed("c4", reason);
    text = scratch_.rewritten;
  }
  if (s.c4_paragraph.enabled) {
    if (const auto reason = c4_paragraphs(s.c4_paragraph, text); !reason.empty()) {
      return removed("c4_paragraph", reason);
    }
  }
  if (cleaner_.bad_words_) {
    const auto reason = cleaner_.bad_words_->filter(document.id, text, scratch_.lowered);
    if (!reason.empty()) return removed("bad_words", reason);
  }
  if (s.fineweb.enabled) {
    const auto reason = fineweb_quality(s.fineweb, s.version, text, splitter, scratch_);
    if (!reason.empty()) return removed("fineweb", reason);
  }
  if (s.c4.enabled) document.text.assign(scratch_.rewritten);
  return verdict;
}

std::string_view CleanWorker::judge_language(Document& document) {
  const LanguageSettings& s = cleaner_.settings_.language;
  if (s.as_datatrove_0_2) {
    std::string joined = document.text;
    std::erase(joined, '\n');
    cleaner_.language_->score(joined, scores_);
  } else {
    cleaner_.language_->score(document.text, scores_);
  }
  const auto best =
      static_cast<size_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
  const auto passes = [&](size_t label) {
    const bool counts = !s.as_datatrove_0_2 || label == best;
    return counts && static_cast<double>(scores_[label]) > s.min_score;
  };
  const std::vector<size_t>& requested = cleaner_.requested_labels_;
  const bool keeps =
      requested.empty() ? passes(best) : std::any_of(requested.begin(), requested.end(), passes);
  if (!keeps) return "language";
  document.language = cleaner_.language_->labels()[best];
  return {};
}

}  // namespace ingot
