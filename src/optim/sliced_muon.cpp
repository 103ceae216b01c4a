// Muon where ranks hold slices of matrices. Each matrix has an owner (spec/rows/matrix_owners.h),
// which gets the others' slices of the direction, orthogonalises it and gives their slices back.
// States stay where they are.
//
// In round k, on the compute lane of every rank, with what other lanes do meanwhile:
//
//     slices of k are there ─► momentum of k+1 ─► orthogonalise k ─► weights of k-1 ─► …
//                                    │ send slices of k+1  │ send slices of the result of k
//
// All ranks issue their messages in one order, that of rounds, owners and ranks, in whichever way a
// backend carries them out: the first that is not done can always be.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "core/async/lane.h"
#include "core/error/error.h"
#include "ops/update/muon.h"
#include "optim/muon.h"
#include "optim/polar.h"
#include "spec/rows/matrix_owners.h"

namespace ingot {
namespace {

// One matrix of a round, seen by a rank.
struct Work {
  SlicedMatrix sliced;
  int64_t room = 0;  // where the rank's slice lies in outgoing and incoming, if it is not the owner
  Ticket incoming;   // when the result's slice is there
};
using Round = std::vector<Work>;

std::vector<Round> rounds_of(const std::vector<SlicedMatrix>& matrices, DType dtype, int rank) {
  std::vector<Round> rounds;
  int64_t room = 0;
  for (const SlicedMatrix& sliced : matrices) {
    if (sliced.matrix.round == static_cast<int>(rounds.size())) {
      rounds.emplace_back();
      room = 0;
    }
    rounds.back().push_back({sliced, room, {}});
    if (sliced.matrix.owner != rank)
      room += slice_room(dtype, sliced.held[static_cast<size_t>(rank)]);
  }
  return rounds;
}

// Views of what sliced_scratch() lists.
struct Scratch {
  std::array<Tensor, 2> x, y;  // (n) of the largest matrix
  Tensor gram, square, acc_gram;
  Tensor squares;
  Tensor outgoing, incoming;

  Scratch(Context& ctx, const std::vector<ScratchSpec>& rows) {
    std::vector<Tensor> taken;
    for (const ScratchSpec& row : rows) taken.push_back(ctx.workspace.take(row.dtype, row.shape));
    const int64_t n = taken[kSlicedX].shape[1];
    for (int64_t i : {0, 1}) {
      x[static_cast<size_t>(i)] = taken[kSlicedX].slice(0, i, i + 1).reshape({n});
      y[static_cast<size_t>(i)] = taken[kSlicedY].slice(0, i, i + 1).reshape({n});
    }
    gram = taken[kSlicedGram];
    square = taken[kSlicedSquare];
    squares = taken[kSlicedPartials];
    outgoing = taken[kSlicedOutgoing];
    incoming = taken[kSlicedIncoming];
    if (taken.size() > kSlicedAccGram) acc_gram = taken[kSlicedAccGram];
  }

  PolarTensors of(const MatrixShape& matrix, size_t place) const {
    const int64_t S = matrix.small(), n = matrix.numel();
    const auto square_of = [&](const Tensor& flat) {
      return flat.defined() ? flat.slice(0, 0, S * S).reshape({S, S}) : Tensor{};
    };
    return {x[place].slice(0, 0, n).reshape({matrix.rows, matrix.cols}),
            y[place].slice(0, 0, n).reshape({matrix.rows, matrix.cols}),
            square_of(gram),
            square_of(square),
            squares.slice(0, 0, muon_num_partials(n)),
            matrix.tall() ? square_of(acc_gram) : Tensor{}};
  }
};

// One update.
class Update {
 public:
  Update(Context& ctx, const OptimConfig& config, const UpdateInputs& inputs, Communicator& group,
         std::vector<Round> rounds, const std::vector<ScratchSpec>& scratch,
         std::span<const OwnedShard> shards, size_t num_parameters)
      : ctx_(ctx),
        config_(config),
        inputs_(inputs),
        group_(group),
        lane_(compute_lane(ctx)),
        scope_(ctx.workspace),
        scratch_(ctx, scratch),
        rounds_(std::move(rounds)),
        shards_(num_parameters) {
    for (const OwnedShard& one : shards)
      shards_[static_cast<size_t>(one.shard->parameter.row)] = one.shard;
  }

  void run() {
    if (rounds_.empty()) return;
    gather(0);
    for (size_t k = 0; k < rounds_.size(); ++k) {
      come_after(directions_);
      come_after(results_[k % 2]);  // of round k-2, which lie where those of k will
      if (k + 1 < rounds_.size()) gather(k + 1);
      compute(k);
      if (k > 0) apply(k - 1);
      give_back(k);
    }
    apply(rounds_.size() - 1);
    for (std::vector<Ticket>& tickets : results_) come_after(tickets);
    for (const ParameterShard* shard : shards_)
      if (shard != nullptr) take_exact_weights(ctx_, *shard);
  }

 private:
  int rank() const { return group_.rank(); }
  bool owns(const Work& work) const { return work.sliced.matrix.owner == rank(); }
  ShardRange slice(const Work& work) const { return held(work, rank()); }
  static ShardRange held(const Work& work, int rank) {
    return work.sliced.held[static_cast<size_t>(rank)];
  }
  static Tensor part(const Tensor& flat, const ShardRange& range) {
    return flat.slice(0, range.begin, range.end);
  }
  // The rank's slice among those of its round.
  Tensor room(const Tensor& slices, const Work& work) const {
    return slices.slice(0, work.room, work.room + slice(work).size());
  }
  const ParameterShard& shard_of(const Work& work) const {
    return *shards_[static_cast<size_t>(work.sliced.matrix.parameter.row)];
  }
  // The rank's slice as elements of its shard.
  ShardRange in_shard(const Work& work) const {
    const int64_t shift = work.sliced.matrix.begin - shard_of(work).range.begin;
    return {slice(work).begin + shift, slice(work).end + shift};
  }

  void come_after(std::vector<Ticket>& tickets) {
    for (const Ticket& ticket : tickets) lane_->after(ticket);
    tickets.clear();
  }

  // Updates the momenta; the owners get the directions.
  void gather(size_t k) {
    const Tensor& whole = scratch_.x[k % 2];
    for (const Work& work : rounds_[k]) {
      if (slice(work).size() == 0) continue;
      const ParameterShard& shard = shard_of(work);
      const ShardRange own = in_shard(work);
      muon_momentum(ctx_, config_.muon_momentum, inputs_.scalars, part(shard.gradient, own),
                    part(shard.states[0], own),
                    owns(work) ? part(whole, slice(work)) : room(scratch_.outgoing, work), {});
    }
    const Ticket ready = lane_->mark("directions");
    for (const Work& work : rounds_[k]) {
      const int owner = work.sliced.matrix.owner;
      if (!owns(work)) {
        if (slice(work).size() > 0)
          directions_.push_back(group_.send(room(scratch_.outgoing, work), owner, ready));
        continue;
      }
      for (int from = 0; from < group_.size(); ++from)
        if (from != owner && held(work, from).size() > 0)
          directions_.push_back(group_.recv(part(whole, held(work, from)), from, ready));
    }
  }

  void compute(size_t k) {
    for (const Work& work : rounds_[k]) {
      if (!owns(work)) continue;
      const MatrixShape& matrix = work.sliced.matrix.shape;
      const PolarTensors tensors = scratch_.of(matrix, k % 2);
      // Of the whole direction at once, so that the sum is one rank's.
      muon_squares(ctx_, tensors.x.reshape({matrix.numel()}), tensors.squares);
      orthogonalize(ctx_, matrix, tensors);
    }
  }

  void give_back(size_t k) {
    const Ticket ready = lane_->mark("orthogonal directions");
    for (Work& work : rounds_[k]) {
      const int owner = work.sliced.matrix.owner;
      if (!owns(work)) {
        if (slice(work).size() > 0)
          work.incoming = group_.recv(room(scratch_.incoming, work), owner, ready);
        continue;
      }
      for (int to = 0; to < group_.size(); ++to)
        if (to != owner && held(work, to).size() > 0)
          results_[k % 2].push_back(
              group_.send(part(scratch_.y[k % 2], held(work, to)), to, ready));
    }
  }

  void apply(size_t k) {
    for (const Work& work : rounds_[k]) {
      if (slice(work).size() == 0) continue;
      lane_->after(work.incoming);
      const ShardRange own = in_shard(work);
      const auto [keep, rate] = muon_rates(config_, inputs_.lr, work.sliced.matrix.shape);
      // This part of the gradient is in the momentum by now: exact weights may take its place.
      const Tensor exact = exact_weights(ctx_, shard_of(work), own.begin, own.end);
      muon_apply(ctx_, keep, rate, inputs_.scalars,
                 owns(work) ? part(scratch_.y[k % 2], slice(work)) : room(scratch_.incoming, work),
                 exact);
    }
  }

  Context& ctx_;
  const OptimConfig& config_;
  const UpdateInputs& inputs_;
  Communicator& group_;
  std::unique_ptr<Lane> lane_;  // of ctx_
  const Workspace::Scope scope_;
  const Scratch scratch_;
  std::vector<Round> rounds_;
  std::vector<const ParameterShard*> shards_;   // by parameter; null where the rank has none
  std::vector<Ticket> directions_;              // of one round, under way
  std::array<std::vector<Ticket>, 2> results_;  // sent, by the place that they are sent from
};

class SlicedMuon final : public Optimizer {
 public:
  explicit SlicedMuon(const OptimizerSetup& setup)
      : config_(setup.config),
        group_(setup.shard_group),
        matrices_(sliced_matrices(setup.parameters, setup.config, setup.layout)),
        compute_(setup.compute),
        num_parameters_(setup.parameters.rows().size()) {
    check(group_.size() == setup.layout.dp_shard, ErrorCode::Internal,
          "muon: expected a group of the layout's {} ranks, got {}", setup.layout.dp_shard,
          group_.size());
  }

  void update(Context& ctx, const UpdateInputs& inputs,
              std::span<const OwnedShard> shards) override {
    const std::vector<ScratchSpec> scratch = sliced_scratch(ctx.device.kind, compute_, matrices_);
    Update(ctx, config_, inputs, group_,
           rounds_of(matrices_, scratch[kSlicedX].dtype, group_.rank()), scratch, shards,
           num_parameters_)
        .run();
  }

 private:
  const OptimConfig config_;
  Communicator& group_;
  const std::vector<SlicedMatrix> matrices_;
  const DType compute_;
  const size_t num_parameters_;
};

}  // namespace

std::unique_ptr<Optimizer> sliced_muon(const OptimizerSetup& setup) {
  return std::make_unique<SlicedMuon>(setup);
}

}  // namespace ingot
