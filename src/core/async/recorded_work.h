// Work that is issued many times in the same way. On a GPU, launching hundreds of small kernels
// takes longer than running them. They are recorded once and then launched by one call.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/device/context.h"

namespace ingot {

class RecordedWork {
 public:
  virtual ~RecordedWork() = default;

  // Issues the work that `issue` issues. True: `issue` was called. False: a recording was replayed
  // and only the device saw the work. `key` names everything the work depends on except the
  // contents of memory. `issue` must neither wait for the device nor read from it.
  virtual bool run(const std::string& key, const std::function<void()>& issue) = 0;
};

// GPU: CUDA graphs. The first run of a key is issued directly, since kernels are loaded and
// libraries choose algorithms then; the second run is recorded. The last kKeys recordings are kept.
// CPU: calls `issue` every time. The context must outlive it.
std::unique_ptr<RecordedWork> make_recorded_work(Context& ctx);

}  // namespace ingot
