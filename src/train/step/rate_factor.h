// The factor by which policies have lowered the schedule's learning rate.
#pragma once

#include "core/storage/state_section.h"

namespace ingot {

class RateFactor final : public StateSection {
 public:
  double value() const { return value_; }
  void halve() { value_ /= 2; }

  std::string_view name() const override { return "rate_factor"; }
  std::string save() const override;
  void load(std::string_view saved) override;

 private:
  double value_ = 1.0;
};

}  // namespace ingot
