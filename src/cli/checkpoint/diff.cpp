// ingot checkpoint diff A B
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "checkpoint/models/open_model.h"
#include "cli/checkpoint/facts.h"
#include "cli/checkpoint/model_progress.h"
#include "cli/frame/command.h"
#include "core/text/format.h"
#include "spec/model/model_settings.h"
#include "spec/model/transformer_parameters.h"

namespace ingot::cli {
namespace {

// Of one tensor in both.
struct Difference {
  int64_t differing = 0;   // elements, NaN also from NaN
  int64_t not_finite = 0;  // of those: NaN or infinite in one of the two
  double largest = 0.0;    // of |a - b| where both are finite
  double scale = 0.0;      // the largest |a| that is finite
};

Difference difference(const Weights& a, const Weights& b, const std::string& name, int64_t numel) {
  constexpr int64_t kChunk = 1 << 20;
  std::vector<double> x(kChunk), y(kChunk);
  Difference found;
  for (int64_t at = 0; at < numel; at += kChunk) {
    const int64_t count = std::min(kChunk, numel - at);
    a.read(name, {at, at + count}, Tensor::contiguous(x.data(), DType::F64, {count}));
    b.read(name, {at, at + count}, Tensor::contiguous(y.data(), DType::F64, {count}));
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const bool finite = std::isfinite(x[i]) && std::isfinite(y[i]);
      found.differing += x[i] == y[i] ? 0 : 1;
      found.not_finite += x[i] == y[i] || finite ? 0 : 1;
      if (finite) found.largest = std::max(found.largest, std::abs(x[i] - y[i]));
      if (std::isfinite(x[i])) found.scale = std::max(found.scale, std::abs(x[i]));
    }
  }
  return found;
}

struct Diff {
  std::string a, b;
  JsonOption json;
  int64_t differing = 0, tensors = 0;
  nlohmann::json all = nlohmann::json::array();

  Exit run() {
    const auto storage = posix_storage();
    const auto first = open_model(storage, a), other = open_model(storage, b);
    compare_models(first->info().model, other->info().model);
    compare_weights(first->weights(), other->weights());
    if (differing == 0)
      fmt::print("equal: {} tensors\n", tensors);
    else
      fmt::print("{} differences; {} tensors compared\n", differing, tensors);
    json.print({{"equal", differing == 0}, {"tensors", tensors}, {"differences", all}});
    return differing == 0 ? Exit::Done : Exit::Failed;
  }

  void say(const std::string& name, const std::string& what, nlohmann::json facts = {}) {
    ++differing;
    fmt::print("{}: {}\n", name, what);
    facts["name"] = name;
    facts["what"] = what;
    all.push_back(std::move(facts));
  }

  void compare_models(ModelConfig x, ModelConfig y) {
    x.rope.style = y.rope.style;
    const std::vector<Setting> ours = model_settings(x), theirs = model_settings(y);
    for (size_t i = 0; i < ours.size(); ++i)
      if (ours[i].get() != theirs[i].get())
        say(ours[i].name,
            fmt::format("{} and {}", toml_text(ours[i].get()), toml_text(theirs[i].get())));
  }

  void compare_weights(const Weights& first, const Weights& other) {
    ModelProgress progress("comparing");
    const auto x = with_progress(first, progress.watch());
    // Rotary pairs in another order are the same model.
    const auto y = with_rope_style(other, first.model().rope.style);
    const TensorTable ours = transformer_parameters(x->model()),
                      theirs = transformer_parameters(y->model());
    for (const TensorSpec& row : ours.rows()) compare(*x, *y, row, theirs);
    for (const TensorSpec& row : theirs.rows())
      if (!ours.try_find(row.name).valid()) say(row.name, fmt::format("only in {}", b));
  }

  void compare(const Weights& x, const Weights& y, const TensorSpec& row,
               const TensorTable& others) {
    const TensorId id = others.try_find(row.name);
    if (!id.valid()) return say(row.name, fmt::format("only in {}", a));
    if (others[id].shape != row.shape)
      return say(row.name, fmt::format("{} and {}", row.shape, others[id].shape));
    ++tensors;
    const Difference found = difference(x, y, row.name, row.shape.numel());
    if (found.differing == 0) return;
    const double relative = found.scale > 0 ? found.largest / found.scale : found.largest;
    std::string what = fmt::format("{} of {} elements differ", found.differing, row.shape.numel());
    if (found.differing > found.not_finite)
      what += fmt::format(", by {:.3g} at most, {:.3g} of the largest", found.largest, relative);
    if (found.not_finite > 0)
      what += fmt::format("; {} of them {} NaN or infinite", found.not_finite,
                          found.not_finite == 1 ? "is" : "are");
    say(row.name, what,
        {{"elements", found.differing},
         {"not_finite", found.not_finite},
         {"largest", found.largest},
         {"relative", relative}});
  }
};

}  // namespace

void add_checkpoint_diff(Command& checkpoint) {
  auto options = std::make_shared<Diff>();
  auto* diff = checkpoint.add_subcommand(
      "diff", "compare two models tensor by tensor, of whatever formats; fails where they differ");
  diff->add_option("a", options->a, model_path_forms())->required();
  diff->add_option("b", options->b, "the other")->required();
  options->json.add_to(*diff);
  diff->callback([options] { return options->run(); });
}

}  // namespace ingot::cli
