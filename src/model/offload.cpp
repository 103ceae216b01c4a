#include "model/offload.h"

#include "ops/memory.h"

namespace ingot {

ActivationOffload::ActivationOffload(Context& ctx, const PlacedTensors& placed, int64_t num_layers,
                                     int64_t num_offloaded)
    : num_layers_(num_layers), num_offloaded_(num_offloaded) {
  const auto rows_of = [&](const std::string& prefix) {
    std::vector<Tensor> rows;
    for (const TensorSpec& row : placed.table().rows())
      if (row.name.starts_with(prefix)) rows.push_back(placed.find(row.name));
    return rows;
  };
  for (int set = 0; set < 2; ++set) sets_[set] = rows_of(offload_name(set, ""));
  for (int64_t place = 0; stored(place); ++place) stored_.push_back(rows_of(host_name(place, "")));
  if (stored_.empty()) return;
  compute_ = compute_lane(ctx);
  copies_ = side_lane(ctx, {.threads = 0});
  tickets_.resize(stored_.size());
}

void ActivationOffload::before_forward(int64_t layer) {
  // The set is free when its previous owner has been copied to the host.
  if (const Place place = place_of(layer); place && stored(*place - 2)) wait_for(*place - 2);
}

void ActivationOffload::after_forward(int64_t layer) {
  const Place place = place_of(layer);
  if (!place || !stored(*place)) return;
  move(*place, set_of(*place), stored_[static_cast<size_t>(*place)]);
}

void ActivationOffload::before_backward(int64_t layer) {
  if (const Place place = place_of(layer); place && stored(*place)) wait_for(*place);
}

void ActivationOffload::after_backward(int64_t layer) {
  const Place place = place_of(layer);
  if (!place || !stored(*place - 2)) return;
  const int64_t next = *place - 2;  // takes the set over
  move(next, stored_[static_cast<size_t>(next)], set_of(next));
}

void ActivationOffload::move(int64_t place, const std::vector<Tensor>& from,
                             const std::vector<Tensor>& to) {
  copies_->after(compute_->mark("what is to be moved"));
  for (size_t i = 0; i < from.size(); ++i)
    copies_->issue([a = from[i], b = to[i]](Context& ctx) { transfer(ctx, a, b); });
  tickets_[static_cast<size_t>(place)] = copies_->mark("moved activations");
}

}  // namespace ingot
