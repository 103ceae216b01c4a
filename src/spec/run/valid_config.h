// The settings of a run without contradictions among them.
#pragma once

#include "spec/run/run_config.h"

namespace ingot {

// There is no other way to one than the rules that settings have to each other (T within the
// context, batch divisible, something to stop at, …): who is given one checks nothing again.
class ValidConfig {
 public:
  // Throws ErrorCode::Config, saying what contradicts what, and where nothing says when to stop.
  ValidConfig(RunConfig config);  // NOLINT(google-explicit-constructor): settings are checked here
  // The same for settings that are no run yet: nothing need say when to stop.
  static ValidConfig open_ended(RunConfig config);

  // With what train.precision `auto` came to, whose rules are checked.
  ValidConfig with_precision(Precision decided) const;

  const RunConfig& operator*() const { return config_; }
  const RunConfig* operator->() const { return &config_; }

 private:
  struct Checked {};
  ValidConfig(RunConfig config, Checked) : config_(std::move(config)) {}

  RunConfig config_;
};

}  // namespace ingot
