// Work that is issued again and again in the same way. On a GPU, starting hundreds of small kernels
// one by one takes longer than they run: they are recorded once and from then on started by one
// call.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "core/device/context.h"

namespace ingot {

class RecordedWork {
 public:
  virtual ~RecordedWork() = default;

  // Issues through the context what `issue` issues; true where it was called for that, false where
  // a record took its place and only the device knows that the work was asked for. `key` names all
  // that the work depends on besides the contents of memory. `issue` must neither wait for the
  // device nor read from it.
  virtual bool run(const std::string& key, const std::function<void()>& issue) = 0;
};

// On a GPU CUDA graphs: a key met for the first time is issued as it is, since that is when kernels
// are loaded and libraries choose theirs; the second time it is recorded. The last kKeys are kept.
// On the CPU `issue` is called every time. The context must outlive it.
std::unique_ptr<RecordedWork> make_recorded_work(Context& ctx);

}  // namespace ingot
