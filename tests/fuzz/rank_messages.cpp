// What reaches the port of a run, arbitrary: frames give messages that encode to the same bytes, or
// Error, and nobody is let in without the secret. Input: one byte, of which the lowest bit chooses
// and the rest is how many bytes come at a time; then what comes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "core/error/error.h"
#include "parallel/comm/tcp/handshake.h"
#include "parallel/comm/tcp/message.h"

namespace {

using namespace ingot::tcp;  // NOLINT

void read_frames(std::span<const std::byte> bytes, size_t at_a_time) {
  FrameReader reader(kMaxFrame);
  std::string frames;
  size_t begin = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t count = std::min({reader.missing(), at_a_time, bytes.size() - at});
    if (count == 0) abort();
    const auto message = reader.add(bytes.subspan(at, count));
    at += count;
    if (!message) continue;
    const std::string again = encode(*message);
    const std::string frame(reinterpret_cast<const char*>(bytes.data() + begin), at - begin);
    if (again != frame) abort();
    begin = at;
  }
}

void knock_with(std::span<const std::byte> bytes, size_t at_a_time) {
  auto [own, other] = socket_pair();
  Admission admission(std::move(own), key_of("a secret"), Clock::time_point::max());
  auto stage = Admission::Stage::Waits;
  for (size_t at = 0; at < bytes.size() && stage == Admission::Stage::Waits; at += at_a_time) {
    send_some(other, bytes.subspan(at, std::min(at_a_time, bytes.size() - at)));
    stage = admission.advance();
  }
  other.close();
  for (int i = 0; i < 2 && stage == Admission::Stage::Waits; ++i) stage = admission.advance();
  if (stage != Admission::Stage::Failed) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const auto bytes = std::as_bytes(std::span(data + 1, size - 1));
  const size_t at_a_time = 1 + data[0] / 2;
  if (data[0] & 1) {
    knock_with(bytes, at_a_time);
    return 0;
  }
  try {
    read_frames(bytes, at_a_time);
  } catch (const ingot::Error&) {
  }
  return 0;
}
