// The host plane: what the ranks of a run agree on. Small and slow; tensors go by Communicator.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ingot {

using Patience = std::chrono::milliseconds;
inline constexpr Patience kPatience{0};  // as the run's Deadlines::collective says

// Every rank makes the same calls in the same order. `what` names the meeting («save»), for errors:
// ranks that meet for different things throw ErrorCode::Internal saying which; a rank whose
// patience ends throws ErrorCode::Comm naming the meeting, how long it waited and the ranks that
// are missing; when a rank failed the others throw ErrorCode::Comm naming it.
class Control {
 public:
  explicit Control(Patience usual = std::chrono::minutes(30)) : usual_(usual) {}
  virtual ~Control() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Every rank's text, in rank order, on every rank. Returns when all have come.
  virtual std::vector<std::string> gather(std::string_view what, std::string_view own,
                                          Patience patience = kPatience) = 0;

  // The same of numbers, as many on every rank: those of rank r begin at [r * own.size()].
  std::vector<double> gather_values(std::string_view what, std::span<const double> own,
                                    Patience patience = kPatience);

  void barrier(std::string_view what, Patience patience = kPatience);
  // True on every rank when it is on one.
  bool any(std::string_view what, bool own, Patience patience = kPatience);
  // Σ over ranks, added in rank order, so the same bits on all.
  double sum(std::string_view what, double own, Patience patience = kPatience);
  void sum(std::string_view what, std::span<double> values, Patience patience = kPatience);
  // Throws ErrorCode::Config on every rank, saying which rank has what, unless all have the same.
  void agree(std::string_view what, std::string_view own, Patience patience = kPatience);

 protected:
  Patience length_of(Patience patience) const { return patience == kPatience ? usual_ : patience; }

 private:
  Patience usual_;
};

}  // namespace ingot
