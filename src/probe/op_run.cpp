#include "probe/op_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error/error.h"
#include "core/random/random.h"
#include "ops/memory.h"

namespace ingot {
namespace {

constexpr uint64_t kSeed = 20240601;
// Bench-sized inputs repeat themselves: drawing 100 MB of normals would take longer than the bench.
// A prime, so that no row equals the next.
constexpr size_t kPeriod = 65521;
constexpr int64_t kGuardBytes = kArenaAlignment;
constexpr std::byte kGuardPattern{0xa5};
constexpr const char* kWorkspace = "workspace";

struct Slot {
  std::string name;
  DType dtype;
  Shape shape;
};

DType stored(DType dtype, bool wide) {
  return wide && dtype == DType::BF16 ? DType::F32 : dtype;
}
template <class InputOrOutput>
DType stored(DType dtype, const InputOrOutput& of) {
  return of.type.value_or(stored(dtype, of.wide));
}

bool has_gradient(const OpInput& input) {
  return input.differentiable && !input.type;
}

// Every tensor of the case in the order of the arena.
std::vector<Slot> slots_of(const Context& ctx, const OpCase& c, DType dtype) {
  std::vector<Slot> slots;
  for (const OpInput& input : c.inputs) {
    slots.push_back({input.name, stored(dtype, input), input.shape});
    if (c.backward && has_gradient(input))
      slots.push_back(
          {"d." + input.name, stored(dtype, input.wide || input.wide_gradient), input.shape});
  }
  for (const OpOutput& output : c.outputs) {
    slots.push_back({output.name, stored(dtype, output), output.shape});
    if (c.backward && output.differentiable)
      slots.push_back({"d." + output.name, stored(dtype, output.wide), output.shape});
  }
  const int64_t scratch = c.workspace_bytes ? c.workspace_bytes(ctx, dtype) : 0;
  slots.push_back({kWorkspace, DType::U8, {scratch}});
  return slots;
}

int64_t slot_bytes(const Slot& slot) {
  return align_up(slot.shape.numel() * size_of(slot.dtype)) + kGuardBytes;
}

int64_t arena_bytes(const Context& ctx, const OpCase& c, DType dtype) {
  int64_t bytes = kGuardBytes;
  for (const Slot& slot : slots_of(ctx, c, dtype)) bytes += slot_bytes(slot);
  return bytes;
}

double rounded(double value, DType dtype) {
  switch (dtype) {
    case DType::BF16:
      return Bf16::from_float(static_cast<float>(value)).to_float();
    case DType::F32:
      return static_cast<float>(value);
    default:
      return value;
  }
}

// `count` values as the input's `fill` says.
std::vector<double> drawn(const OpInput& how, const RandomStream& stream, size_t count) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i) {
    switch (how.fill) {
      case OpInput::Fill::Normal:
        values[i] = how.scale * static_cast<double>(stream.normal(i));
        break;
      case OpInput::Fill::Uniform:
        values[i] = how.scale * stream.uniform(i);
        break;
      case OpInput::Fill::Tokens:
        values[i] = std::floor(how.scale * stream.uniform(i));
        break;
      case OpInput::Fill::Ones:
        values[i] = how.scale;
        break;
    }
  }
  return values;
}

// The first `period` bytes over and over, up to the tensor's end.
void repeat(const Tensor& tensor, int64_t period) {
  auto* bytes = static_cast<std::byte*>(tensor.data);
  for (int64_t done = period; done < tensor.bytes(); done += period)
    std::memcpy(bytes + done, bytes, static_cast<size_t>(std::min(period, tensor.bytes() - done)));
}

}  // namespace

OpRun::OpRun(const OpCase& op_case, DType dtype, DType rounding, const Context& ctx)
    : op_case_(op_case),
      dtype_(dtype),
      rounding_(rounding),
      ctx_(ctx),
      arena_(ctx.device, arena_bytes(ctx, op_case, dtype)),
      filled_(static_cast<size_t>(arena_.bytes()), kGuardPattern) {
  place_all();
  for (const OpInput& input : op_case_.inputs) fill(input.name, input);
  for (const OpOutput& output : op_case_.outputs)
    if (op_case_.backward && output.differentiable) fill("d." + output.name, OpInput{});
  copy_from_host(ctx_, filled_.data(), everything());
}

int64_t OpRun::offset_of(const Tensor& tensor) const {
  return static_cast<const std::byte*>(tensor.data) -
         static_cast<const std::byte*>(everything().data);
}

Tensor OpRun::filled(const Tensor& tensor) {
  return Tensor::contiguous(filled_.data() + offset_of(tensor), tensor.dtype, tensor.shape);
}

std::vector<std::byte> OpRun::download(const Tensor& tensor) const {
  std::vector<std::byte> bytes(static_cast<size_t>(tensor.bytes()));
  Context ctx = ctx_;
  copy_to_host(ctx, tensor, bytes.data());
  return bytes;
}

void OpRun::place_all() {
  int64_t offset = kGuardBytes;
  for (const Slot& slot : slots_of(ctx_, op_case_, dtype_)) {
    const Tensor placed = arena_.place(offset, slot.dtype, slot.shape);
    if (slot.name == kWorkspace) {
      ctx_.workspace = placed.numel() > 0 ? Workspace(placed) : Workspace();
    } else {
      std::memset(filled(placed).data, 0, static_cast<size_t>(placed.bytes()));
    }
    check(tensors_.emplace(slot.name, placed).second, ErrorCode::Internal,
          "op case {} names {} twice", op_case_.name, slot.name);
    offset += slot_bytes(slot);
  }
}

void OpRun::fill(const std::string& name, const OpInput& how) {
  const Tensor to = filled(tensor(name));
  const RandomStream stream(kSeed, Purpose::Test, tensor_id(op_case_.name + "/" + name));
  std::vector<double> values = how.values;
  if (values.empty())
    values = drawn(how, stream, std::min(static_cast<size_t>(to.numel()), kPeriod));
  if (to.dtype != DType::I32)
    for (double& value : values) value = rounded(value, stored(rounding_, how));
  const auto count = how.values.empty() ? static_cast<int64_t>(values.size()) : to.numel();
  write_values(to.reshape({to.numel()}).slice(0, 0, count), values);
  repeat(to, count * size_of(to.dtype));
}

std::vector<double> OpRun::values(std::string_view name) const {
  Context ctx = ctx_;
  return read_values(ctx, tensor(name));
}

std::vector<std::byte> OpRun::contents(std::string_view name) const {
  return download(tensor(name));
}

void OpRun::set_values(std::string_view name, std::span<const double> values) {
  const Tensor& to = tensor(name);
  write_values(filled(to), values);
  copy_from_host(ctx_, filled(to).data, to);
}

void OpRun::poison(const Tensor& tensor) {
  // All bits set is a NaN in every float type.
  const std::vector<std::byte> ones(static_cast<size_t>(tensor.bytes()), std::byte{0xff});
  copy_from_host(ctx_, ones.data(), tensor);
}

void OpRun::forward() {
  poison(tensor(kWorkspace));
  for (const OpOutput& output : op_case_.outputs) poison(tensor(output.name));
  forward_only();
}

void OpRun::backward() {
  if (!op_case_.backward) return;
  poison(tensor(kWorkspace));
  for (const std::string& name : gradient_names()) zero(ctx_, tensor(name));
  backward_only();
}

std::string OpRun::damage() const {
  std::vector<std::byte> now = download(everything());
  auto allow = [&](const Tensor& t) {
    const int64_t begin = offset_of(t);
    std::copy_n(filled_.begin() + begin, t.bytes(), now.begin() + begin);
  };
  allow(tensor(kWorkspace));
  for (const std::string& name : output_names()) allow(tensor(name));
  for (const std::string& name : gradient_names()) allow(tensor(name));
  const auto [changed, expected] = std::ranges::mismatch(now, filled_);
  if (changed == now.end()) return {};
  // The buffer whose end or begin is nearest: the last one that starts at or before the byte.
  std::string nearest = "before the first buffer";
  int64_t best = 0;
  for (const auto& [name, t] : tensors_) {
    const int64_t begin = offset_of(t);
    if (begin <= changed - now.begin() && begin >= best) {
      best = begin;
      nearest = name;
    }
  }
  return nearest;
}

std::vector<std::string> OpRun::gradient_names() const {
  std::vector<std::string> names;
  if (op_case_.backward)
    for (const OpInput& input : op_case_.inputs)
      if (has_gradient(input)) names.push_back("d." + input.name);
  return names;
}

std::vector<std::string> OpRun::output_names() const {
  std::vector<std::string> names;
  for (const OpOutput& output : op_case_.outputs) names.push_back(output.name);
  return names;
}

const Tensor& OpRun::tensor(std::string_view name) const {
  const auto found = tensors_.find(name);
  check(found != tensors_.end(), ErrorCode::Internal, "op case {} has no tensor {}", op_case_.name,
        name);
  return found->second;
}

}  // namespace ingot
