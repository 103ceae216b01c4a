// State that a run saves besides weights and optimizer states: a loss scale, the scales of 8-bit
// tensors, the statistics of a monitor. The owner of such state implements a section. Checkpoints
// store its text under its name and know nothing else about it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace ingot {

class StateSection {
 public:
  virtual ~StateSection() = default;
  virtual std::string_view name() const = 0;  // "loss_scale": unique in a run
  // Call between steps; equal on all ranks. JSON text from which load() restores the exact state.
  virtual std::string save() const = 0;
  // Throws ErrorCode::Data if `saved` does not come from save() of such a run.
  virtual void load(std::string_view saved) = 0;
  // Whether checkpoints older than this section load without it.
  virtual bool may_be_missing() const { return false; }
};

using SavedSections = std::map<std::string, std::string, std::less<>>;  // name → JSON text

SavedSections save_sections(std::span<StateSection* const> sections);
// Throws ErrorCode::Data if `origin` lacks a section that may not be missing.
void load_sections(const SavedSections& saved, std::span<StateSection* const> sections,
                   std::string_view origin);

}  // namespace ingot
