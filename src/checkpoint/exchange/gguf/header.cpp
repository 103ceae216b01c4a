#include "checkpoint/exchange/gguf/header.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/error/error.h"

namespace ingot {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr uint32_t kOldest = 2, kNewest = 3;             // both are laid out alike
constexpr int64_t kMaxHeaderBytes = int64_t{256} << 20;  // ten times the largest published one
constexpr uint32_t kMaxRank = 4;                         // the format's own limit

// ggml's names of the types that are not read; the others are given by number.
constexpr std::pair<uint32_t, std::string_view> kOtherTypes[] = {
    {2, "Q4_0"},    {3, "Q4_1"},     {6, "Q5_0"},   {7, "Q5_1"},    {9, "Q8_1"},   {10, "Q2_K"},
    {11, "Q3_K"},   {12, "Q4_K"},    {13, "Q5_K"},  {14, "Q6_K"},   {15, "Q8_K"},  {16, "IQ2_XXS"},
    {17, "IQ2_XS"}, {18, "IQ3_XXS"}, {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"}, {22, "IQ2_S"},
    {23, "IQ4_XS"}, {24, "I8"},      {25, "I16"},   {26, "I32"},    {27, "I64"},   {28, "F64"},
    {29, "IQ1_M"},  {34, "TQ1_0"},   {35, "TQ2_0"}, {39, "MXFP4"}};

std::string type_name(uint32_t type) {
  for (const auto& [number, name] : kOtherTypes)
    if (number == type) return std::string(name);
  return fmt::format("number {}", type);
}

bool is_read(uint32_t type) {
  for (const GgufType known : {GgufType::F32, GgufType::F16, GgufType::Q8_0, GgufType::BF16})
    if (type == static_cast<uint32_t>(known)) return true;
  return false;
}

template <class T>
T value_in(std::string_view bytes, size_t at = 0) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(value));
  return value;
}

// The header's bytes, read as far as they are wanted.
class Cursor {
 public:
  Cursor(const ReadableFile& file, std::string& bytes)
      : file_(file), bytes_(bytes), limit_(std::min(file.size(), kMaxHeaderBytes)) {}

  int64_t at() const { return at_; }

  std::pair<int64_t, int64_t> take_range(uint64_t count, uint64_t element = 1) {
    const auto left = static_cast<uint64_t>(limit_ - at_);
    if (count > left / element)
      throw Error(ErrorCode::Data,
                  fmt::format("its header claims {}{} bytes at byte {}, and {} are left{}", count,
                              element == 1 ? "" : fmt::format(" times {}", element), at_, left,
                              limit_ == file_.size() ? "" : " of what a header may have"));
    const auto size = static_cast<int64_t>(count * element);
    need(at_ + size);
    at_ += size;
    return {at_ - size, size};
  }
  template <class T>
  T take() {
    const auto [at, size] = take_range(sizeof(T));
    return value_in<T>(bytes_, static_cast<size_t>(at));
  }
  std::pair<int64_t, int64_t> take_text() { return take_range(take<uint64_t>()); }
  std::string take_name() {
    const auto [at, size] = take_text();
    return bytes_.substr(static_cast<size_t>(at), static_cast<size_t>(size));
  }

 private:
  void need(int64_t end) {
    constexpr int64_t kFirst = int64_t{1} << 16;
    const auto have = static_cast<int64_t>(bytes_.size());
    if (end <= have) return;
    const int64_t wanted = std::min(limit_, std::max({end, 2 * have, kFirst}));
    bytes_.resize(static_cast<size_t>(wanted));
    file_.read(have, std::as_writable_bytes(std::span(bytes_)).subspan(static_cast<size_t>(have)));
  }

  const ReadableFile& file_;
  std::string& bytes_;
  int64_t limit_, at_ = 0;
};

GgufKind kind_of(uint32_t number) {
  check(number <= static_cast<uint32_t>(GgufKind::F64), ErrorCode::Data,
        "a value of kind {}: expected one of 0 to 12", number);
  return static_cast<GgufKind>(number);
}

std::string shown(std::string_view name) {
  return std::string(name.substr(0, 100));
}

// Where a value lies, before its bytes stay where they are.
struct Placed {
  std::string key;
  GgufKind kind, element = GgufKind::U8;
  uint64_t count = 0;
  std::pair<int64_t, int64_t> range;
};

Placed take_value(Cursor& cursor) {
  Placed value{cursor.take_name(), kind_of(cursor.take<uint32_t>()), GgufKind::U8, 0, {}};
  if (value.kind == GgufKind::Text) {
    value.range = cursor.take_text();
  } else if (value.kind != GgufKind::List) {
    value.range = cursor.take_range(size_of(value.kind));
  } else {
    value.element = kind_of(cursor.take<uint32_t>());
    value.count = cursor.take<uint64_t>();
    check(value.element != GgufKind::List, ErrorCode::Data, "{} is a list of lists",
          shown(value.key));
    if (value.element == GgufKind::Text) {
      value.range.first = cursor.at();
      for (uint64_t i = 0; i < value.count; ++i) cursor.take_text();
      value.range.second = cursor.at() - value.range.first;
    } else {
      value.range = cursor.take_range(value.count, size_of(value.element));
    }
  }
  return value;
}

struct TakenTensor {
  GgufTensor tensor;
  uint32_t type = 0;
  uint64_t offset = 0;
};

TakenTensor take_tensor(Cursor& cursor, int64_t file_bytes) {
  TakenTensor taken;
  taken.tensor.name = cursor.take_name();
  const auto rank = cursor.take<uint32_t>();
  check(1 <= rank && rank <= kMaxRank, ErrorCode::Data, "{} has {} dimensions, expected 1 to {}",
        shown(taken.tensor.name), rank, kMaxRank);
  std::array<int64_t, kMaxRank> extents{};
  int64_t numel = 1;
  for (uint32_t dim = 0; dim < rank; ++dim) {
    const auto extent = cursor.take<uint64_t>();
    // No type has more than eight elements in a byte.
    check(1 <= extent && extent <= static_cast<uint64_t>(8 * file_bytes / numel), ErrorCode::Data,
          "the extent {} of {} does not fit into the file", extent, shown(taken.tensor.name));
    extents[dim] = static_cast<int64_t>(extent);
    numel *= extents[dim];
  }
  while (rank > 1 && taken.tensor.shape.rank() < static_cast<int>(rank))
    taken.tensor.shape.append(extents[rank - 1 - static_cast<uint32_t>(taken.tensor.shape.rank())]);
  if (rank == 1) taken.tensor.shape = {extents[0]};
  taken.type = cursor.take<uint32_t>();
  taken.offset = cursor.take<uint64_t>();
  return taken;
}

void check_types(const std::vector<TakenTensor>& tensors, const std::string& path) {
  const auto is_other = [](const TakenTensor& taken) { return !is_read(taken.type); };
  const auto first = std::ranges::find_if(tensors, is_other);
  if (first == tensors.end()) return;
  throw Error(ErrorCode::Data,
              fmt::format("'{}': {} is of type {}, as are {} of {} tensors that are not F32, F16, "
                          "BF16 or Q8_0; get the model as one of these, or its Hugging Face folder",
                          path, shown(first->tensor.name), type_name(first->type),
                          std::ranges::count_if(tensors, is_other), tensors.size()));
}

int64_t alignment_of(const GgufHeader& header) {
  constexpr int64_t kDefault = 32, kMost = int64_t{1} << 20;
  const auto found = header.metadata.find("general.alignment");
  if (found == header.metadata.end()) return kDefault;
  const int64_t alignment = found->second.integer();
  check(0 < alignment && alignment <= kMost && (alignment & (alignment - 1)) == 0, ErrorCode::Data,
        "general.alignment: expected a power of two to {}, got {}", kMost, alignment);
  return alignment;
}

// Each tensor begins where the one before it ends, as all writers of the format have it.
void place_tensors(std::vector<TakenTensor> tensors, int64_t header_bytes, int64_t file_bytes,
                   GgufHeader& header) {
  const int64_t alignment = alignment_of(header);
  const auto aligned = [&](int64_t at) { return (at + alignment - 1) / alignment * alignment; };
  const int64_t data = aligned(header_bytes);
  int64_t at = data, end = header_bytes;
  for (auto& [tensor, type, offset] : tensors) {
    tensor.type = static_cast<GgufType>(type);
    check(tensor.type != GgufType::Q8_0 || tensor.shape[-1] % kGgufBlock == 0, ErrorCode::Data,
          "{} has rows of {} elements, Q8_0 wants whole blocks of {}", shown(tensor.name),
          tensor.shape[-1], kGgufBlock);
    check(offset == static_cast<uint64_t>(at - data), ErrorCode::Data,
          "{} begins at byte {} of the data, expected {}, where the tensor before it ends",
          shown(tensor.name), offset, at - data);
    const int64_t bytes = gguf_bytes(tensor);
    check(at <= file_bytes && bytes <= file_bytes - at, ErrorCode::Data,
          "{} has {} bytes from byte {}, and the file {} in all", shown(tensor.name), bytes, at,
          file_bytes);
    end = at + bytes;
    const std::string name = tensor.name;
    check(header.tensors.emplace(name, GgufEntry{std::move(tensor), at}).second, ErrorCode::Data,
          "it holds {} twice", shown(name));
    at = aligned(end);
  }
  check(file_bytes <= aligned(end), ErrorCode::Data, "{} bytes follow the last tensor",
        file_bytes - end);
}

// All but where tensors lie.
std::vector<TakenTensor> read_names(Cursor& cursor, int64_t file_bytes,
                                    std::shared_ptr<const std::string> bytes, GgufHeader& header) {
  const auto version = cursor.take<uint32_t>();
  check((version & 0xFFFF) != 0, ErrorCode::Data, "it is for machines with big-endian numbers");
  check(kOldest <= version && version <= kNewest, ErrorCode::Data,
        "expected version {} or {}, got {}", kOldest, kNewest, version);
  const auto num_tensors = cursor.take<uint64_t>(), num_keys = cursor.take<uint64_t>();
  std::vector<Placed> values;
  for (uint64_t i = 0; i < num_keys; ++i) values.push_back(take_value(cursor));
  std::vector<TakenTensor> tensors;
  for (uint64_t i = 0; i < num_tensors; ++i) tensors.push_back(take_tensor(cursor, file_bytes));
  for (const auto& [key, kind, element, count, range] : values) {
    const auto view = std::string_view(*bytes).substr(static_cast<size_t>(range.first),
                                                      static_cast<size_t>(range.second));
    const GgufValue value =
        kind == GgufKind::List ? GgufValue(element, count, view) : GgufValue(kind, view);
    check(!key.empty() && header.metadata.emplace(key, value).second, ErrorCode::Data,
          "it says «{}» twice", shown(key));
  }
  header.bytes = std::move(bytes);
  return tensors;
}

// What `body` finds wrong is wrong with the file.
template <class Body>
auto of_file(const std::string& path, const Body& body) {
  std::string why;
  try {
    return body();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::Data) throw;
    why = error.what();
  }
  throw Error(ErrorCode::Data,
              fmt::format("'{}' is no sound GGUF file: {}; get it again", path, why));
}

}  // namespace

bool is_gguf_file(Storage& storage, const std::string& path) {
  try {
    const auto file = storage.open(path);
    std::array<char, kMagic.size()> magic{};
    if (file->size() < static_cast<int64_t>(magic.size())) return false;
    file->read(0, std::as_writable_bytes(std::span(magic)));
    return std::string_view(magic.data(), magic.size()) == kMagic;
  } catch (const Error&) {
    return false;  // a folder, or nothing: who opens it says so
  }
}

GgufHeader read_gguf_header(const ReadableFile& file, const std::string& path) {
  GgufHeader header;
  const auto bytes = std::make_shared<std::string>();
  Cursor cursor(file, *bytes);
  std::vector<TakenTensor> tensors = of_file(path, [&] {
    cursor.take_range(kMagic.size());
    check(bytes->starts_with(kMagic), ErrorCode::Data, "it does not begin with «GGUF»");
    return read_names(cursor, file.size(), bytes, header);
  });
  check_types(tensors, path);
  of_file(path, [&] { place_tensors(std::move(tensors), cursor.at(), file.size(), header); });
  return header;
}

}  // namespace ingot
