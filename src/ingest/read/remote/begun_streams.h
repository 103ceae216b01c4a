// Remote files that were looked at before the work, kept so that nothing is fetched twice.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ingest/read/byte_stream.h"

namespace ingot {

// While it records, what open() gives is a look at a stream; afterwards the first open() of the
// same address gives that stream once more from its beginning, and goes on with it. Thread-safe.
class BegunStreams {
 public:
  using Open = std::function<std::unique_ptr<ByteStream>()>;
  std::unique_ptr<ByteStream> open(const std::string& address, const Open& open_new);
  void record(bool wanted);

 private:
  struct Begun;
  class Look;
  class Again;

  std::mutex mutex_;
  bool records_ = false;
  std::map<std::string, std::shared_ptr<Begun>> begun_;
};

}  // namespace ingot
