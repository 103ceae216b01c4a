// Shows on stderr how far a long command is through a model. On Ctrl-C the command undoes what it
// wrote.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>

#include "checkpoint/weights.h"
#include "cli/frame/progress_line.h"
#include "cli/start/signals.h"
#include "core/text/format.h"

namespace ingot::cli {

class ModelProgress {
 public:
  explicit ModelProgress(std::string what) : what_(std::move(what)) {}

  // For with_progress(). The result must not be called after this object is gone.
  WeightsProgress watch() {
    return [this](int64_t elements, int64_t of) {
      interruption_.throw_if_asked();
      if (!line_.is_due()) return;
      line_.show(fmt::format("{}: {} of {} parameters, {}", what_, format_short_count(elements),
                             format_short_count(of), format_percent(elements, of, 0)));
    };
  }

 private:
  Interruption interruption_;  // first, to end the process when all else is undone
  std::string what_;
  ProgressLine line_;
};

}  // namespace ingot::cli
