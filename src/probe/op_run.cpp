#include "probe/op_run.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/random.h"

namespace ingot {
namespace {

constexpr uint64_t kSeed = 20240601;
// Bench-sized inputs repeat themselves: drawing 100 MB of normals would take longer than the bench.
// A prime, so that no row equals the next.
constexpr size_t kPeriod = 65521;
constexpr int64_t kGuardBytes = kArenaAlignment;
constexpr int kGuardPattern = 0xa5;
constexpr const char* kWorkspace = "workspace";

struct Slot {
  std::string name;
  DType dtype;
  Shape shape;
};

DType stored(DType dtype, bool wide) {
  return wide && dtype == DType::BF16 ? DType::F32 : dtype;
}

bool has_gradient(const OpInput& input) {
  return input.differentiable && !input.integer;
}

// Every tensor of the case in the order of the arena.
std::vector<Slot> slots_of(const OpCase& c, DType dtype, int num_threads) {
  std::vector<Slot> slots;
  for (const OpInput& input : c.inputs) {
    const DType own = input.integer ? DType::I32 : stored(dtype, input.wide);
    slots.push_back({input.name, own, input.shape});
    if (c.backward && has_gradient(input))
      slots.push_back(
          {"d." + input.name, stored(dtype, input.wide || input.wide_gradient), input.shape});
  }
  for (const OpOutput& output : c.outputs) {
    slots.push_back({output.name, stored(dtype, output.wide), output.shape});
    if (c.backward && output.differentiable)
      slots.push_back({"d." + output.name, stored(dtype, output.wide), output.shape});
  }
  const int64_t scratch = c.workspace_bytes ? c.workspace_bytes(dtype, num_threads) : 0;
  slots.push_back({kWorkspace, DType::U8, {scratch}});
  return slots;
}

int64_t slot_bytes(const Slot& slot) {
  return align_up(slot.shape.numel() * size_of(slot.dtype)) + kGuardBytes;
}

int64_t arena_bytes(const OpCase& c, DType dtype, int num_threads) {
  int64_t bytes = kGuardBytes;
  for (const Slot& slot : slots_of(c, dtype, num_threads)) bytes += slot_bytes(slot);
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

}  // namespace

std::vector<double> read_values(const Tensor& tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.numel()));
  auto read = [&]<class T>(const T* from) {
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, Bf16>) {
        values[i] = from[i].to_float();
      } else {
        values[i] = static_cast<double>(from[i]);
      }
    }
  };
  switch (tensor.dtype) {
    case DType::F64:
      read(tensor.as<double>());
      break;
    case DType::BF16:
      read(tensor.as<Bf16>());
      break;
    case DType::I32:
      read(tensor.as<int32_t>());
      break;
    default:
      read(tensor.as<float>());
  }
  return values;
}

void write_values(const Tensor& tensor, std::span<const double> values) {
  check(static_cast<size_t>(tensor.numel()) == values.size(), ErrorCode::Internal,
        "expected {} values for {}, got {}", tensor.numel(), tensor.str(), values.size());
  auto write = [&]<class T>(T* to) {
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (std::is_same_v<T, Bf16>) {
        to[i] = Bf16::from_float(static_cast<float>(values[i]));
      } else {
        to[i] = static_cast<T>(values[i]);
      }
    }
  };
  switch (tensor.dtype) {
    case DType::F64:
      return write(tensor.as<double>());
    case DType::BF16:
      return write(tensor.as<Bf16>());
    case DType::I32:
      return write(tensor.as<int32_t>());
    default:
      return write(tensor.as<float>());
  }
}

OpRun::OpRun(const OpCase& op_case, DType dtype, DType rounding, ThreadPool& pool)
    : op_case_(op_case),
      dtype_(dtype),
      rounding_(rounding),
      arena_(Device::cpu(), arena_bytes(op_case, dtype, pool.num_threads())) {
  ctx_.pool = &pool;
  place_all();
  for (const OpInput& input : op_case_.inputs) fill(input.name, input);
  for (const OpOutput& output : op_case_.outputs)
    if (op_case_.backward && output.differentiable) fill("d." + output.name, OpInput{});
  const Tensor all = arena_.place(0, DType::U8, {arena_.bytes()});
  const auto* bytes = static_cast<const std::byte*>(all.data);
  before_.assign(bytes, bytes + all.bytes());
}

void OpRun::place_all() {
  const Tensor all = arena_.place(0, DType::U8, {arena_.bytes()});
  std::memset(all.data, kGuardPattern, static_cast<size_t>(all.bytes()));
  int64_t offset = kGuardBytes;
  for (const Slot& slot : slots_of(op_case_, dtype_, ctx_.pool->num_threads())) {
    const Tensor placed = arena_.place(offset, slot.dtype, slot.shape);
    if (slot.name == kWorkspace) {
      if (placed.numel() > 0) ctx_.workspace = Workspace(placed);
    } else {
      std::memset(placed.data, 0, static_cast<size_t>(placed.bytes()));
    }
    check(tensors_.emplace(slot.name, placed).second, ErrorCode::Internal,
          "op case {} names {} twice", op_case_.name, slot.name);
    offset += slot_bytes(slot);
  }
}

void OpRun::fill(const std::string& name, const OpInput& how) {
  const Tensor& to = tensor(name);
  const RandomStream stream(kSeed, Purpose::Test, tensor_id(op_case_.name + "/" + name));
  std::vector<double> values = how.values;
  if (values.empty()) {
    values.resize(static_cast<size_t>(to.numel()));
    for (size_t i = 0; i < std::min(values.size(), kPeriod); ++i) {
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
    for (size_t i = kPeriod; i < values.size(); ++i) values[i] = values[i - kPeriod];
  }
  if (to.dtype != DType::I32)
    for (double& value : values) value = rounded(value, stored(rounding_, how.wide));
  write_values(to, values);
}

void OpRun::set_values(std::string_view name, std::span<const double> values) {
  const Tensor& to = tensor(name);
  write_values(to, values);
  const Tensor all = arena_.place(0, DType::U8, {arena_.bytes()});
  const auto offset =
      static_cast<const std::byte*>(to.data) - static_cast<const std::byte*>(all.data);
  std::memcpy(before_.data() + offset, to.data, static_cast<size_t>(to.bytes()));
}

void OpRun::poison(const Tensor& tensor) {
  // All bits set is a NaN in every float type.
  std::memset(tensor.data, 0xff, static_cast<size_t>(tensor.bytes()));
}

void OpRun::forward() {
  poison(tensor(kWorkspace));
  for (const OpOutput& output : op_case_.outputs) poison(tensor(output.name));
  forward_only();
}

void OpRun::backward() {
  if (!op_case_.backward) return;
  poison(tensor(kWorkspace));
  for (const std::string& name : gradient_names())
    std::memset(tensor(name).data, 0, static_cast<size_t>(tensor(name).bytes()));
  backward_only();
}

std::string OpRun::damage() const {
  const Tensor all = arena_.place(0, DType::U8, {arena_.bytes()});
  const auto* now = static_cast<const std::byte*>(all.data);
  std::vector<bool> writable(before_.size(), false);
  auto allow = [&](const Tensor& t) {
    const auto begin = static_cast<const std::byte*>(t.data) - now;
    std::fill_n(writable.begin() + begin, t.bytes(), true);
  };
  allow(tensor(kWorkspace));
  for (const std::string& name : output_names()) allow(tensor(name));
  for (const std::string& name : gradient_names()) allow(tensor(name));
  for (size_t i = 0; i < before_.size(); ++i) {
    if (writable[i] || now[i] == before_[i]) continue;
    // The buffer whose end or begin is nearest: the last one that starts at or before the byte.
    std::string nearest = "before the first buffer";
    const std::byte* best = nullptr;
    for (const auto& [name, t] : tensors_) {
      const auto* begin = static_cast<const std::byte*>(t.data);
      if (begin <= now + i && begin >= best) {
        best = begin;
        nearest = name;
      }
    }
    return nearest;
  }
  return {};
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
