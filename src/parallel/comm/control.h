// The host plane: agreement between the ranks of a run. Small and slow; tensors use Communicator.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

using Patience = std::chrono::milliseconds;
inline constexpr Patience kPatience{0};  // Deadlines::collective of the run

// Every rank makes the same calls in the same order. `what` names the round («save») for errors.
// Ranks that call for different rounds throw ErrorCode::Internal with both names. At a timeout a
// rank throws ErrorCode::Comm with the round, the time waited and the missing ranks. If a rank
// failed, the others throw ErrorCode::Comm naming it.
class Control {
 public:
  explicit Control(Patience usual = std::chrono::minutes(30)) : usual_(usual) {}
  virtual ~Control() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // All-gather of texts in rank order. Returns when all ranks have called it.
  virtual std::vector<std::string> gather(std::string_view what, std::string_view own,
                                          Patience patience = kPatience) = 0;

  // The same for numbers, equally many on every rank: those of rank r begin at [r * own.size()].
  std::vector<double> gather_values(std::string_view what, std::span<const double> own,
                                    Patience patience = kPatience);

  void barrier(std::string_view what, Patience patience = kPatience);
  // True on every rank if it is true on any rank.
  bool any(std::string_view what, bool own, Patience patience = kPatience);
  // Σ over ranks, added in rank order: the same bits on all.
  double sum(std::string_view what, double own, Patience patience = kPatience);
  void sum(std::string_view what, std::span<double> values, Patience patience = kPatience);
  // Throws ErrorCode::Config on every rank, with each rank's value, unless all values are equal.
  void agree(std::string_view what, std::string_view own, Patience patience = kPatience);

 protected:
  Patience length_of(Patience patience) const { return patience == kPatience ? usual_ : patience; }

 private:
  Patience usual_;
};

}  // namespace ingot
