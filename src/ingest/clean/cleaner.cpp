#include "ingest/clean/cleaner.h"

#include <fmt/format.h>

#include <optional>

#include "core/error/error.h"
#include "core/text/utf8.h"

namespace ingot {
namespace {

std::optional<PunktFiles> read_punkt(const std::string& folder, CleanFiles& files) {
  if (folder.empty()) return std::nullopt;
  PunktFiles punkt;
  punkt.abbreviations = files.read_list(join_path(folder, "abbrev_types.txt"));
  punkt.collocations = files.read_list(join_path(folder, "collocations.tab"));
  punkt.sentence_starters = files.read_list(join_path(folder, "sent_starters.txt"));
  punkt.contexts = files.read_list(join_path(folder, "ortho_context.tab"));
  return punkt;
}

}  // namespace

Cleaner::Cleaner(CleanSettings settings, Storage& storage) : settings_(std::move(settings)) {
  validate(settings_);
  CleanFiles files(storage);
  const std::optional<PunktFiles> punkt = read_punkt(settings_.punkt, files);
  splitter_ = make_splitter(settings_.splitter, punkt ? &*punkt : nullptr);
  for (const OwnedFilterSettings& filter : settings_.filters) {
    if (filter->enabled) filters_.emplace_back(filter->name(), filter->make(files));
  }
  files_hash_ = files.hash();
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
    ++counts_.kept;
    counts_.bytes_kept += static_cast<int64_t>(document.text.size());
  } else {
    ++counts_.removed[fmt::format("{} {}", verdict.step, verdict.reason)];
  }
  return verdict;
}

Verdict CleanWorker::judge(Document& document) {
  const CleanSettings& settings = cleaner_.settings_;
  if (document.text.empty()) return {"input", "empty"};
  if (static_cast<int64_t>(document.text.size()) > settings.max_document_bytes)
    return {"input", "too_large"};
  if (!is_utf8(document.text)) return {"input", "invalid_utf8"};

  Passage passage(document, settings.version, *cleaner_.splitter_, scratch_, counts_);
  for (const auto& [step, filter] : cleaner_.filters_) {
    if (const auto reason = filter->judge(passage); !reason.empty())
      return {step, reason, passage.lines};
  }
  if (passage.is_rewritten()) document.text.assign(passage.text());
  return {{}, {}, passage.lines};
}

}  // namespace ingot
