#include "parallel/comm/cuda/nccl_link.h"

#include <cstring>
#include <thread>
#include <utility>

#include "core/cuda/launch.h"
#include "core/device/cuda_backend.h"
#include "core/error/log.h"
#include "parallel/comm/cuda/nccl_library.h"

namespace ingot {

// Fails before its event is passed, so that whoever waits for the event learns of it.
class NcclCall {
 public:
  NcclCall(int64_t number, std::string what, Watch& watch, std::shared_ptr<StreamEvent> end)
      : number_(number), what_(std::move(what)), end_(std::move(end)) {
    watched_.emplace(watch, what_);
  }

  int64_t number() const { return number_; }
  const std::string& what() const { return what_; }
  StreamEvent& end() { return *end_; }

  // Tickets may outlive it. By the link alone, as fail().
  void over() { watched_.reset(); }
  void fail(std::exception_ptr failure) {
    over();
    const std::scoped_lock lock(mutex_);
    failure_ = std::move(failure);
  }
  void throw_if_failed() const {
    const std::scoped_lock lock(mutex_);
    if (failure_) std::rethrow_exception(failure_);
  }

 private:
  const int64_t number_;
  const std::string what_;
  const std::shared_ptr<StreamEvent> end_;
  std::optional<Watched> watched_;
  mutable std::mutex mutex_;
  std::exception_ptr failure_;
};

namespace {

constexpr auto kAwaitTime = std::chrono::milliseconds(200);  // between looks at withdrawn_
constexpr auto kHearTime = std::chrono::seconds(2);          // for news of a rank to arrive
constexpr auto kGrace = std::chrono::seconds(1);  // for what a rank did before it was done
// NCCL puts each call on the stream from a thread that it makes for it, which is soon done; a
// longer wait is one for other ranks.
constexpr auto kBusyTime = std::chrono::microseconds(500);
constexpr auto kPollTime = std::chrono::microseconds(200);
constexpr auto kEndTime = std::chrono::seconds(10);  // for NCCL to let go of a communicator

// Where a call ends on its stream, and whether it came to that end by itself.
class CallEvent final : public StreamEvent {
 public:
  explicit CallEvent(std::shared_ptr<NcclCall> call) : call_(std::move(call)) {}
  bool done() override { return call_->end().done(); }
  void wait() override {
    call_->end().wait();
    call_->throw_if_failed();
  }
  void before(CudaContext& later) override {
    call_->throw_if_failed();
    call_->end().before(later);
  }

 private:
  std::shared_ptr<NcclCall> call_;
};

// What NCCL adds up; everything else goes as bytes.
ncclDataType_t type_of(const Tensor& tensor) {
  switch (tensor.dtype) {
    case DType::F64:
      return ncclFloat64;
    case DType::F32:
      return ncclFloat32;
    case DType::BF16:
      return ncclBfloat16;
    case DType::F16:
      return ncclFloat16;
    case DType::I64:
      return ncclInt64;
    case DType::I32:
      return ncclInt32;
    case DType::U32:
      return ncclUint32;
    case DType::U8:
      return ncclUint8;
    default:
      throw Error(ErrorCode::Missing, fmt::format("NCCL does not reduce {}", tensor));
  }
}

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cuda_check(cudaStreamIsCapturing(stream, &status));
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

NcclLink::NcclLink(HostPlane& plane, std::string name, std::vector<int> ranks, int member,
                   const Context& compute)
    : plane_(plane),
      name_(std::move(name)),
      ranks_(std::move(ranks)),
      member_(member),
      device_(compute.device.index) {}

NcclLink::~NcclLink() {
  const std::scoped_lock lock(mutex_);
  if (comm_ != nullptr) release(/*abort=*/!in_flight_.empty());
  if (!released_.valid() || released_.wait_for(kEndTime) == std::future_status::ready) return;
  log::warn("nccl", {{"left_open", name_}});
  turns_.leak();
}

void NcclLink::connect() {
  const std::scoped_lock lock(mutex_);
  try {
    connect_members();
  } catch (const Error& error) {
    fail(error.during("NCCL among " + text_of_ranks(ranks_)));
    std::rethrow_exception(failure_);
  }
}

// NCCL then hands it to the network, or maps it between GPUs, instead of copying through buffers of
// its own. It is a matter of speed alone: what it refuses goes through the buffers.
void NcclLink::register_memory(const Tensor& memory) {
  const std::scoped_lock lock(mutex_);
  const NcclLibrary& nccl = nccl_library();
  if (comm_ == nullptr || nccl.comm_register == nullptr || memory.bytes() == 0) return;
  const ncclResult_t status =
      nccl.comm_register(comm_, memory.data, static_cast<size_t>(memory.bytes()), &registered_);
  if (status != ncclSuccess)
    log::warn("nccl", {{"memory_not_registered", nccl.get_error_string(status)}});
}

void NcclLink::connect_members() {
  const NcclLibrary& nccl = nccl_library();
  const auto begun = Clock::now();
  const std::string what = "NCCL among " + text_of_ranks(ranks_);
  const Watched watched(plane_.watch(), what);
  ncclUniqueId id;
  const std::string key = "nccl " + name_;
  if (member_ == 0) {
    nccl_check(nccl.get_unique_id(&id), "ncclGetUniqueId");
    plane_.post(key, {id.internal, sizeof(id.internal)});
  } else {
    const std::string posted = await(key);
    check(posted.size() == sizeof(id.internal), ErrorCode::Internal,
          "NCCL: expected an id of {} bytes, got {}", sizeof(id.internal), posted.size());
    std::memcpy(id.internal, posted.data(), posted.size());
  }
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  settle(nccl.comm_init_rank_config(&comm_, static_cast<int>(ranks_.size()), id, member_, &config),
         what, begun, plane_.deadlines().start);
}

// A value of the board, unless this rank withdraws meanwhile.
std::string NcclLink::await(const std::string& key) {
  const auto end = Clock::now() + plane_.deadlines().start;
  for (;;) {
    check(!withdrawn_, ErrorCode::Comm, "abandoned by this rank");
    try {
      return plane_.await(key, kAwaitTime);
    } catch (const Error&) {
      if (plane_.lost() || Clock::now() >= end) throw;
    }
  }
}

// NCCL works on in a thread of its own; it may be waiting for other ranks.
void NcclLink::settle(ncclResult_t status, const std::string& what, Clock::time_point begun,
                      Timeout timeout) {
  check_nccl(status, "a call");
  const auto first = Clock::now();
  while (status == ncclInProgress) {
    if (const auto now = Clock::now(); now - first < kBusyTime) {
      std::this_thread::yield();
    } else {
      check(!withdrawn_, ErrorCode::Comm, "abandoned by this rank");
      check_others(now - begun);
      if (now - begun >= timeout) throw_late(what, timeout);
      std::this_thread::sleep_for(kPollTime);
    }
    nccl_check(nccl_library().comm_get_async_error(comm_, &status), "ncclCommGetAsyncError");
    check_nccl(status, "a call in progress");
  }
}

std::shared_ptr<StreamEvent> NcclLink::put(Context& ctx, const CollectiveCall& call) {
  const std::scoped_lock lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
  const std::string what = text_of(call);
  try {
    check(!withdrawn_, ErrorCode::Comm, "abandoned by this rank");
    plane_.throw_if_lost();
    if (comm_ == nullptr) connect_members();
    const cudaStream_t stream = stream_of(ctx);
    const bool captured = is_captured(stream);
    const int64_t number = ++num_calls_;
    if (call.in.numel() > 0) {  // NCCL would do nothing at all
      turns_.put(ctx, number);
      issue(call, stream);
      turns_.put(ctx, number);
    }
    std::shared_ptr<StreamEvent> end = record_event(*ctx.cuda);
    if (captured) {
      recorded_[number] = what;
      return end;
    }
    in_flight_.push_back(std::make_shared<NcclCall>(number, what, plane_.watch(), std::move(end)));
    return std::make_shared<CallEvent>(in_flight_.back());
  } catch (const Error& error) {
    fail(error.during(what));
    std::rethrow_exception(failure_);
  }
}

void NcclLink::issue(const CollectiveCall& call, cudaStream_t stream) {
  const NcclLibrary& nccl = nccl_library();
  const Tensor &in = call.in, &out = call.out;
  const ncclRedOp_t reduce = call.reduce == Reduce::Sum ? ncclSum : ncclMax;
  const auto bytes = static_cast<size_t>(in.bytes());
  ncclResult_t status = ncclInternalError;
  switch (call.kind) {
    case Collective::AllReduce:
      status = nccl.all_reduce(in.data, out.data, static_cast<size_t>(in.numel()), type_of(in),
                               reduce, comm_, stream);
      break;
    case Collective::ReduceScatter:
      status = nccl.reduce_scatter(in.data, out.data, static_cast<size_t>(out.numel()), type_of(in),
                                   reduce, comm_, stream);
      break;
    case Collective::AllGather:
      status = nccl.all_gather(in.data, out.data, bytes, ncclUint8, comm_, stream);
      break;
    case Collective::Broadcast:
      status = nccl.broadcast(in.data, out.data, bytes, ncclUint8, call.peer, comm_, stream);
      break;
    case Collective::Send:  // from member 0 to member 1
      status = nccl.send(in.data, bytes, ncclUint8, 1, comm_, stream);
      break;
    case Collective::Recv:
      status = nccl.recv(out.data, bytes, ncclUint8, 0, comm_, stream);
      break;
  }
  settle(status, text_of(call), Clock::now(), plane_.deadlines().collective);
}

void NcclLink::poll() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || comm_ == nullptr) return;  // a put() looks after itself
  try {
    check_progress();
  } catch (const Error& error) {
    fail(error);
  }
}

void NcclLink::check_progress() {
  const auto inside = turns_.inside();
  forget_what_is_over();
  ncclResult_t status = ncclSuccess;
  nccl_check(nccl_library().comm_get_async_error(comm_, &status), "ncclCommGetAsyncError");
  const std::string what = inside ? text_of(inside->call) : "a call";
  const auto now = Clock::now();
  if (!inside || inside->turn != last_turn_) {
    last_turn_ = inside ? inside->turn : 0;
    since_ = now;
    replayed_.reset();
  }
  const bool recorded = inside && recorded_.contains(inside->call);
  if (recorded && now > since_ && !replayed_) replayed_.emplace(plane_.watch(), what);
  try {
    check_nccl(status, "the communicator");
    if (!inside) return;
    check_others(now - since_);
    if (now - since_ >= plane_.deadlines().collective)
      throw_late(what, std::chrono::duration_cast<Timeout>(now - since_));
  } catch (const Error& error) {
    const Error named = error.during(what);
    // Nobody waits for a ticket of recorded work: where no rank is lost, which all hear of, this
    // one is.
    if (recorded && !plane_.lost()) plane_.go(named.what());
    throw named;
  }
}

// NCCL sees that a connection broke before the host plane hears which rank is gone, and why.
void NcclLink::check_nccl(ncclResult_t status, const char* call) {
  if (status == ncclSuccess || status == ncclInProgress) return;
  for (const auto end = Clock::now() + kHearTime; Clock::now() < end;) {
    plane_.throw_if_lost(ranks_);
    std::this_thread::sleep_for(kPollTime);
  }
  nccl_check(status, call, comm_);
}

// Throws when a rank is lost, or when one of these is done and what it did had time to arrive.
void NcclLink::check_others(Clock::duration waited) {
  if (waited > kGrace)
    plane_.throw_if_lost(ranks_);
  else
    plane_.throw_if_lost();
}

void NcclLink::forget_what_is_over() {
  while (!in_flight_.empty() && in_flight_.front()->end().done()) {
    in_flight_.front()->over();
    in_flight_.pop_front();
  }
}

void NcclLink::withdraw() {
  withdrawn_ = true;
  const std::scoped_lock lock(mutex_);
  forget_what_is_over();
  if (comm_ != nullptr && !in_flight_.empty())
    fail(Error(ErrorCode::Comm, in_flight_.front()->what() + ": abandoned by this rank"));
}

// Tickets fail before the abort lets the stream continue.
void NcclLink::fail(const Error& error) {
  forget_what_is_over();
  if (!failure_) failure_ = std::make_exception_ptr(error);
  for (const auto& call : in_flight_) call->fail(failure_);
  in_flight_.clear();
  replayed_.reset();
  if (comm_ != nullptr) release(/*abort=*/true);
}

// In a thread of its own: NCCL waits until the graphs that hold calls of the communicator are gone,
// and those may go after it.
void NcclLink::release(bool abort) {
  std::promise<void> over;
  released_ = over.get_future();
  std::thread([comm = comm_, device = device_, registered = std::exchange(registered_, nullptr),
               abort, over = std::move(over)]() mutable {
    cudaSetDevice(device);
    const NcclLibrary& nccl = nccl_library();
    if (registered != nullptr && !abort) nccl.comm_deregister(comm, registered);
    if (abort)
      nccl.comm_abort(comm);
    else
      nccl.comm_destroy(comm);
    over.set_value();
  }).detach();
  comm_ = nullptr;
}

// The same on all ranks, but for the device.
std::string NcclLink::text_of(const CollectiveCall& call) const {
  const std::string text = call.str();
  return fmt::format("{} among {}", text.substr(0, text.rfind(" on ")), text_of_ranks(ranks_));
}

std::string NcclLink::text_of(int64_t number) const {
  if (const auto known = recorded_.find(number); known != recorded_.end()) return known->second;
  for (const auto& call : in_flight_)
    if (call->number() == number) return call->what();
  return "a call";
}

// NCCL does not say for whom it waits: it is those whose state does not speak of the same call.
void NcclLink::throw_late(const std::string& what, Timeout waited) {
  const std::vector<RankState> states = plane_.states();
  std::vector<int> others, missing;
  for (const int rank : ranks_) {
    if (rank == plane_.process().rank) continue;
    others.push_back(rank);
    if (states[static_cast<size_t>(rank)].state.find(what) == std::string::npos)
      missing.push_back(rank);
  }
  plane_.throw_late(waited, missing.empty() ? others : missing);
}

}  // namespace ingot
