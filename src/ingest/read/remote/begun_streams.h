// Keeps remote streams that were checked before a job, so that nothing is fetched twice.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "ingest/read/byte_stream.h"

namespace ingot {

// While it records, open() returns a view of a stream. Afterwards the first open() of the same
// address replays that stream from its beginning and continues it. Thread-safe.
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
