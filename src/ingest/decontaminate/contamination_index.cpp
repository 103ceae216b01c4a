#include "ingest/decontaminate/contamination_index.h"

#include <xxhash.h>

#include <algorithm>
#include <span>

#include "core/error/error.h"
#include "ingest/clean/splitters/splitter_setting.h"

namespace ingot {
namespace {

uint64_t hash_of(std::string_view n_gram) {
  return XXH64(n_gram.data(), n_gram.size(), 0);
}

std::vector<std::string> words_of(const Splitter& splitter, text::NormalForm form,
                                  std::string_view text) {
  std::string normal;
  WordList words;
  text::normalize(form, text, normal);
  splitter.words(normal, words);
  std::vector<std::string> copies;
  for (const Word& word : words.words) copies.emplace_back(word.view());
  return copies;
}

// Calls found(hash) for each n-gram of the words.
template <class Found>
void for_each_n_gram(std::span<const std::string> words, size_t n, Found found) {
  for (size_t i = 0; i + n <= words.size(); ++i) {
    std::string joined = words[i];
    for (size_t k = 1; k < n; ++k) (joined += ' ') += words[i + k];
    found(hash_of(joined));
  }
}

}  // namespace

#include "spec/settings/rows.h"

std::vector<Setting> settings_of(ContaminationSettings& section) {
  const std::string prefix = "decontaminate.";
  std::vector<Setting> rows;
#include "ingest/decontaminate/decontaminate.def"
  rows.push_back(splitter_setting(prefix + "splitter", section.splitter));
  return rows;
}

#include "spec/settings/end.h"

ContaminationIndex::ContaminationIndex(const ContaminationSettings& settings,
                                       const std::vector<EvalTask>& tasks)
    : settings_(settings), splitter_(make_splitter(settings.splitter)) {
  check(settings.n_gram >= 1 && settings.n_gram <= 1000, ErrorCode::Config,
        "n-gram: expected 1 to 1000 words, got {}", settings.n_gram);
  const auto n = static_cast<size_t>(settings.n_gram);
  for (size_t t = 0; t < tasks.size(); ++t) {
    TaskFacts facts{tasks[t].name, static_cast<int64_t>(tasks[t].items.size()), 0};
    for (const EvalItem& item : tasks[t].items) {
      bool is_protected = false;
      const auto add = [&](uint64_t hash) {
        is_protected = true;
        task_of_.try_emplace(hash, static_cast<uint32_t>(t));
      };
      const auto query = words_of(*splitter_, settings.normal_form, item.query);
      const auto label = words_of(*splitter_, settings.normal_form, item.label);
      for_each_n_gram(label, n, add);
      if (settings.query) for_each_n_gram(query, n, add);
      if (settings.straddling) {
        // The n-grams of the last n - 1 words of the query and the first n - 1 of the label have
        // words of both.
        const size_t tail = std::min(query.size(), n - 1), head = std::min(label.size(), n - 1);
        std::vector<std::string> middle(query.end() - static_cast<std::ptrdiff_t>(tail),
                                        query.end());
        middle.insert(middle.end(), label.begin(),
                      label.begin() + static_cast<std::ptrdiff_t>(head));
        for_each_n_gram(middle, n, add);
      }
      facts.unprotected += !is_protected;
    }
    tasks_.push_back(std::move(facts));
  }
}

std::optional<ContaminationFinder::Found> ContaminationFinder::find(std::string_view text) {
  const ContaminationSettings& settings = index_.settings();
  text::normalize(settings.normal_form, text, normal_);
  index_.splitter().words(normal_, words_);
  joined_.assign(words_);
  const auto n = static_cast<size_t>(settings.n_gram);
  for (size_t i = 0; i + n <= joined_.num_words(); ++i) {
    const std::string_view n_gram = joined_.n_gram(i, n);
    if (const auto task = index_.task_of(hash_of(n_gram))) return Found{*task, std::string(n_gram)};
  }
  return std::nullopt;
}

}  // namespace ingot
