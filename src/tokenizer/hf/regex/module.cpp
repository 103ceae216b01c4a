// The module libingot_regex.so. It links nothing of ours.
#include <oniguruma.h>

#include <deque>

#include "tokenizer/hf/regex/regex_library.h"

namespace ingot {
namespace {

constexpr unsigned kMaxNesting = 250;  // of groups; Oniguruma parses by recursion

const OnigUChar* bytes_of(std::string_view text) {
  return reinterpret_cast<const OnigUChar*>(text.data());
}

// What a search works in; one for each thread.
struct Workspace {
  OnigRegion* region = onig_region_new();
  OnigMatchParam* limits = onig_new_match_param();
  Workspace() {
    if (limits != nullptr) onig_initialize_match_param(limits);
  }
  ~Workspace() {
    if (region != nullptr) onig_region_free(region, 1);
    if (limits != nullptr) onig_free_match_param(limits);
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;
};

class Program final : public RegexProgram {
 public:
  explicit Program(OnigRegex regex) : regex_(regex) {}
  ~Program() override { onig_free(regex_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  Outcome search(std::string_view text, size_t from, const Effort& effort,
                 RegexMatch& match) const override {
    return run(effort, match, [&](const Workspace& work) {
      const OnigUChar *begin = bytes_of(text), *end = begin + text.size();
      return onig_search_with_param(regex_, begin, end, begin + from, end, work.region,
                                    ONIG_OPTION_NONE, work.limits);
    });
  }

  Outcome match_at(std::string_view text, size_t from, const Effort& effort,
                   RegexMatch& match) const override {
    return run(effort, match, [&](const Workspace& work) {
      const OnigUChar *begin = bytes_of(text), *end = begin + text.size();
      return onig_match_with_param(regex_, begin, end, begin + from, work.region, ONIG_OPTION_NONE,
                                   work.limits);
    });
  }

 private:
  template <class Call>
  static Outcome run(const Effort& effort, RegexMatch& match, const Call& call) {
    thread_local Workspace work;
    if (work.region == nullptr || work.limits == nullptr) return Outcome::Failed;
    onig_set_match_stack_limit_size_of_match_param(work.limits, effort.places);
    onig_set_retry_limit_in_match_of_match_param(work.limits, effort.steps);
    onig_set_retry_limit_in_search_of_match_param(work.limits, effort.steps);
    const int found = call(work);
    switch (found) {
      case ONIG_MISMATCH:
        return Outcome::None;
      case ONIGERR_MATCH_STACK_LIMIT_OVER:
      case ONIGERR_RETRY_LIMIT_IN_MATCH_OVER:
      case ONIGERR_RETRY_LIMIT_IN_SEARCH_OVER:
        return Outcome::Exhausted;
      default:
        if (found < 0) return Outcome::Failed;
    }
    match = {static_cast<size_t>(work.region->beg[0]), static_cast<size_t>(work.region->end[0])};
    return Outcome::Found;
  }

  OnigRegex regex_;
};

class Library final : public RegexLibrary {
 public:
  bool define_property(const std::string& name, const std::vector<uint32_t>& ranges) override {
    auto& kept = ranges_.emplace_back();  // Oniguruma keeps the pointer
    kept.push_back(static_cast<OnigCodePoint>(ranges.size() / 2));
    kept.insert(kept.end(), ranges.begin(), ranges.end());
    return onig_unicode_define_user_property(name.c_str(), kept.data()) == ONIG_NORMAL;
  }

  std::unique_ptr<RegexProgram> compile(std::string_view pattern, std::string& error) override {
    OnigRegex regex = nullptr;
    OnigErrorInfo info{};
    const int code = onig_new(&regex, bytes_of(pattern), bytes_of(pattern) + pattern.size(),
                              ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, ONIG_SYNTAX_ONIGURUMA, &info);
    if (code == ONIG_NORMAL) return std::make_unique<Program>(regex);
    OnigUChar message[ONIG_MAX_ERROR_MESSAGE_LEN];
    const int size = onig_error_code_to_str(message, code, &info);
    error.assign(reinterpret_cast<const char*>(message), size > 0 ? static_cast<size_t>(size) : 0);
    return nullptr;
  }

 private:
  std::deque<std::vector<OnigCodePoint>> ranges_;
};

}  // namespace
}  // namespace ingot

extern "C" ingot::RegexLibrary* ingot_regex_library() {
  OnigEncoding encodings[] = {ONIG_ENCODING_UTF8};
  if (onig_initialize(encodings, 1) != ONIG_NORMAL) return nullptr;
  onig_set_parse_depth_limit(ingot::kMaxNesting);
  static auto* const library = new ingot::Library;  // threads may use it until the process ends
  return library;
}
