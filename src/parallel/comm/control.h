// The host plane: agreement between the ranks of a run. Small and slow; tensors use Communicator.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

using Timeout = std::chrono::milliseconds;
inline constexpr Timeout kDefaultTimeout{0};  // Deadlines::collective of the run

// Every rank makes the same calls in the same order. `what` names the round («save») for errors.
// Ranks that call for different rounds throw ErrorCode::Internal with both names. At a timeout a
// rank throws ErrorCode::Comm with the round, the time waited and the missing ranks. If a rank
// failed, the others throw ErrorCode::Comm naming it.
class Control {
 public:
  explicit Control(Timeout usual = std::chrono::minutes(30)) : usual_(usual) {}
  virtual ~Control() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // All-gather of texts in rank order. Returns when all ranks have called it.
  virtual std::vector<std::string> gather(std::string_view what, std::string_view own,
                                          Timeout timeout = kDefaultTimeout) = 0;

  // The same for numbers, equally many on every rank: those of rank r begin at [r * own.size()].
  std::vector<double> gather_values(std::string_view what, std::span<const double> own,
                                    Timeout timeout = kDefaultTimeout);

  void barrier(std::string_view what, Timeout timeout = kDefaultTimeout);
  // True on every rank if it is true on any rank.
  bool any(std::string_view what, bool own, Timeout timeout = kDefaultTimeout);
  // Σ over ranks, added in rank order: the same bits on all.
  double sum(std::string_view what, double own, Timeout timeout = kDefaultTimeout);
  void sum(std::string_view what, std::span<double> values, Timeout timeout = kDefaultTimeout);

 protected:
  Timeout length_of(Timeout timeout) const { return timeout == kDefaultTimeout ? usual_ : timeout; }

 private:
  Timeout usual_;
};

}  // namespace ingot
