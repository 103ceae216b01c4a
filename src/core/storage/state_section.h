// What a run carries from one process to the next besides weights and optimizer states: a loss
// scale, the scales of 8-bit tensors, what a monitor remembers. Whoever owns such a thing is a
// section; checkpoints keep what it says under its name and know nothing else of it.
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
  // Between steps, and equal on all ranks: JSON text from which load() goes on bit for bit.
  virtual std::string save() const = 0;
  // Throws ErrorCode::Data when `saved` is not what save() of such a run gave.
  virtual void load(std::string_view saved) = 0;
  // Whether checkpoints of before there was such a section load without it.
  virtual bool may_be_missing() const { return false; }
};

using SavedSections = std::map<std::string, std::string, std::less<>>;  // name → JSON text

SavedSections save_sections(std::span<StateSection* const> sections);
// Throws ErrorCode::Data when one of them was not saved in `origin` and may not be missing.
void load_sections(const SavedSections& saved, std::span<StateSection* const> sections,
                   std::string_view origin);

}  // namespace ingot
