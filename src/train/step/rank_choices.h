// Choices by the clock go from rank 0 to the others over the board.
#pragma once

#include "core/device/shared_choices.h"
#include "parallel/comm/world.h"

namespace ingot {

// For work that every rank does in the same order: a rank waits for rank 0 to come to it.
class RankChoices final : public SharedChoices {
 public:
  explicit RankChoices(World& world) : world_(world) {}  // which must outlive it

  std::optional<std::string> ask(const std::string& what) override;
  void tell(const std::string& what, const std::string& choice) override;

 private:
  World& world_;
};

}  // namespace ingot
