// The messages of the host plane, as frames of bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace ingot::tcp {

enum class Kind : uint8_t {
  // To connect (handshake.h).
  Hello,      // rank, number: world size, name: its machine, or a channel; text: nonce
  Challenge,  // text: nonce and proof of the server
  Proof,      // text: proof of the client
  Welcome,    // admitted
  Refused,    // text: the reason
  // From a rank to the hub.
  JoinRound,  // name: of the round, number: timeout in ms, text: its own
  Post,       // name: key, text: value
  Await,      // name: key
  Number,     // name
  States,     // requests the states of all ranks
  Missed,     // rank: waited for in vain; text: how long, empty: that rank is done
  Done,       // takes part no more, without failure
  Gone,       // text: why it takes part no more, rank: the cause, number: ErrorCode
  // From the hub to a rank.
  Text,           // rank, text: of the finished round
  RoundComplete,  // all texts were sent
  Late,           // rank: is missing, text: other missing ranks and where they are
  Different,      // text: the ranks' different rounds
  Value,          // name: key, text: value
  Numbered,       // name, number
  State,          // rank, number: age in ms, text
  StatesEnd,      // all states were sent
  RankDone,       // rank
  AllDone,        // every rank is done
  RankLost,       // rank, text: why, number: its ErrorCode, or kLate
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

// The longest text of a rank: a round's texts of all ranks are held in memory.
inline constexpr size_t kMaxText = size_t{16} << 20;
inline constexpr size_t kMaxFrame = kMaxText + 4096;
inline constexpr size_t kMaxHandshake = 4096;  // bytes of frames before a rank is admitted

// length: 4 bytes, version: 1, kind: 1, rank: 4, number: 8, name and text: 4 bytes of length each,
// then their bytes. Integers are little-endian; `length` counts what follows it.
std::string encode(const Message& message);

// Reads frames from a stream of bytes. Buffers only bytes that were received, whatever length a
// frame claims.
class FrameReader {
 public:
  explicit FrameReader(size_t longest) : longest_(longest) {}

  // The number of bytes still missing in the current frame, as far as known: at least 1.
  size_t missing() const;
  // Adds at most missing() bytes. Returns the message when the frame is complete. Throws
  // ErrorCode::Comm for bytes that are not a valid frame.
  std::optional<Message> add(std::span<const std::byte> bytes);

 private:
  size_t longest_;
  std::string frame_;  // received so far
  size_t length_ = 0;  // of what follows the length field; 0 until that is received
};

}  // namespace ingot::tcp
