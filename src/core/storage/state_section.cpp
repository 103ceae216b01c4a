#include "core/storage/state_section.h"

#include "core/error/error.h"

namespace ingot {

SavedSections save_sections(std::span<StateSection* const> sections) {
  SavedSections saved;
  for (const StateSection* section : sections)
    saved.emplace(std::string(section->name()), section->save());
  return saved;
}

void load_sections(const SavedSections& saved, std::span<StateSection* const> sections,
                   std::string_view origin) {
  for (StateSection* section : sections) {
    const auto found = saved.find(section->name());
    if (found == saved.end() && section->may_be_missing()) continue;
    check(found != saved.end(), ErrorCode::Data,
          "checkpoint '{}' lacks the {} that this run resumes from; use another one", origin,
          section->name());
    section->load(found->second);
  }
}

}  // namespace ingot
