// What ranks say to each other on the host plane, as frames of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ingot::tcp {

enum class Kind : uint8_t {
  // To come in (handshake.h).
  Hello,      // rank, number: ranks in the world, name: its machine, or a channel; text: nonce
  Challenge,  // text: nonce and proof of the one that was asked
  Proof,      // text: proof of the one that asks
  Welcome,    // it is in
  Refused,    // text: why not
  // From a rank to the hub.
  Meet,    // name: of the meeting, number: patience in ms, text: its own
  Post,    // name: key, text: value
  Await,   // name: key
  Number,  // name
  States,  // asks for all
  Missed,  // rank: this one waits for it in vain; text: how long, empty: it is done
  Done,    // takes no part from now on, and has not failed
  Gone,    // text: why it takes no part from now on, rank: that this is due to, number: ErrorCode
  // From the hub to a rank.
  Text,       // rank, text: of the meeting that is over
  Met,        // all texts are there
  Late,       // rank: is missing, text: who else and where they are
  Different,  // text: who meets for what
  Value,      // name: key, text: value
  Numbered,   // name, number
  State,      // rank, number: age in ms, text
  StatesEnd,  // all states are there
  RankDone,   // rank
  AllDone,    // every rank is
  RankLost,   // rank, text: why, number: what it failed with, or kLate
  // Both ways.
  Beat,  // text: the sender's state
  Count_,
};

inline constexpr int64_t kLate = -1;  // others waited for it in vain

struct Message {
  Kind kind = Kind::Beat;
  int rank = -1;
  int64_t number = 0;
  std::string name = {}, text = {};
};

// The longest text that a rank may bring: what a meeting holds of all ranks is kept in memory.
inline constexpr size_t kMaxText = size_t{16} << 20;
inline constexpr size_t kMaxFrame = kMaxText + 4096;
inline constexpr size_t kMaxHandshake = 4096;  // of frames before a rank is in

// length: 4 bytes, version: 1, kind: 1, rank: 4, number: 8, name and text: 4 bytes of length each
// and their bytes; integers are little-endian, `length` counts what follows it.
std::string encode(const Message& message);

// Takes frames out of a stream of bytes. Holds no more than what came of one frame, whatever that
// frame claims to be.
class FrameReader {
 public:
  explicit FrameReader(size_t longest) : longest_(longest) {}

  // How many bytes are missing of what is known of the frame: at least 1.
  size_t missing() const;
  // No more than missing(). A whole frame gives its message. Throws ErrorCode::Comm for bytes that
  // are no frame of ours.
  std::optional<Message> add(std::span<const std::byte> bytes);

 private:
  size_t longest_;
  std::string frame_;  // as far as it came
  size_t length_ = 0;  // of what follows the length; known once that came
};

}  // namespace ingot::tcp
