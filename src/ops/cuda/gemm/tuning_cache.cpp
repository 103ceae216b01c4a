#include "ops/cuda/gemm/tuning_cache.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iterator>
#include <utility>

#include "core/error/error.h"
#include "core/error/log.h"

namespace ingot::cuda {
namespace {

constexpr int kFormat = 1;
constexpr std::string_view kMathNames[] = {"full", "tf32", "fastfp8"};  // in the order of GemmMath

[[noreturn]] void damaged(std::string_view what) {
  throw Error(ErrorCode::Data, fmt::format("the tuning file is damaged: {}", what));
}

// FNV-1a: a bit that flipped in an algorithm's words must not reach the GPU.
uint64_t checksum(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Takes a text apart from its front.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return text_.empty(); }
  std::string_view line() { return until('\n'); }
  std::string_view word() { return until(' '); }

  template <class T>
  T number(int base = 10) {
    const std::string_view digits = word();
    T value{};
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
    finish(digits, end, error);
    return value;
  }
  double decimal() {
    const std::string_view digits = word();
    double value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    finish(digits, end, error);
    return value;
  }
  bool choice(std::string_view no, std::string_view yes) {
    const std::string_view name = word();
    if (name != no && name != yes) damaged(fmt::format("'{}' is not '{}' or '{}'", name, no, yes));
    return name == yes;
  }
  DType dtype() {
    const std::string_view name = word();
    const auto parsed = parse_dtype(name);
    if (!parsed) damaged(fmt::format("'{}' is no dtype", name));
    return *parsed;
  }
  GemmMath math() {
    const std::string_view name = word();
    const auto* found = std::find(std::begin(kMathNames), std::end(kMathNames), name);
    if (found == std::end(kMathNames)) damaged(fmt::format("'{}' is no kind of math", name));
    return static_cast<GemmMath>(found - std::begin(kMathNames));
  }

 private:
  std::string_view until(char separator) {
    const size_t end = std::min(text_.find(separator), text_.size());
    const std::string_view part = text_.substr(0, end);
    text_.remove_prefix(std::min(end + 1, text_.size()));
    return part;
  }
  static void finish(std::string_view digits, const char* end, std::errc error) {
    if (error != std::errc() || end != digits.data() + digits.size()) {
      damaged(fmt::format("'{}' is no number", digits));
    }
  }

  std::string_view text_;
};

std::string header(uint64_t library_version) {
  return fmt::format("ingot-gemm-tuning {} cublasLt {}", kFormat, library_version);
}

void append_line(std::string& text, const GemmKey& key, const TunedGemm& tuned) {
  const auto order = [](bool transposed) { return transposed ? 't' : 'n'; };
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{} {} {} {} {} {}", key.M, key.N, key.K, key.a_stride, key.b_stride,
                 key.c_stride);
  fmt::format_to(out, " {} {} {} {} {} {} {} {} {} {}", name_of(key.a_dtype), name_of(key.b_dtype),
                 name_of(key.c_dtype), order(key.a_transposed), order(key.b_transposed),
                 key.accumulate ? "add" : "set", kMathNames[static_cast<size_t>(key.math)],
                 key.a_alignment, key.b_alignment, key.c_alignment);
  for (const uint64_t word : tuned.algorithm) fmt::format_to(out, " {:016x}", word);
  fmt::format_to(out, " {}\n", tuned.microseconds);
}

std::pair<GemmKey, TunedGemm> parse_line(std::string_view line) {
  Reader in(line);
  GemmKey key;
  for (int64_t* field : {&key.M, &key.N, &key.K, &key.a_stride, &key.b_stride, &key.c_stride}) {
    *field = in.number<int64_t>();
  }
  for (DType* field : {&key.a_dtype, &key.b_dtype, &key.c_dtype}) *field = in.dtype();
  key.a_transposed = in.choice("n", "t");
  key.b_transposed = in.choice("n", "t");
  key.accumulate = in.choice("set", "add");
  key.math = in.math();
  for (uint16_t* field : {&key.a_alignment, &key.b_alignment, &key.c_alignment}) {
    *field = in.number<uint16_t>();
  }
  TunedGemm tuned;
  for (uint64_t& word : tuned.algorithm) word = in.number<uint64_t>(16);
  tuned.microseconds = in.decimal();
  if (!in.at_end()) damaged("a line is too long");
  return {key, tuned};
}

std::string cache_file_name(std::string_view gpu, uint64_t library_version) {
  std::string name;
  for (const char c : gpu) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return fmt::format("gemm_{}_{}.txt", name, library_version);
}

}  // namespace

std::string GemmKey::str() const {
  const auto operand = [](DType dtype, bool transposed, int64_t rows, int64_t cols) {
    return fmt::format("{} ({}, {}){}", name_of(dtype), transposed ? cols : rows,
                       transposed ? rows : cols, transposed ? "ᵀ" : "");
  };
  return fmt::format("{} {} {} · {}", operand(c_dtype, false, M, N), accumulate ? "+=" : "=",
                     operand(a_dtype, a_transposed, M, K), operand(b_dtype, b_transposed, K, N));
}

size_t GemmKeyHash::operator()(const GemmKey& key) const {
  uint64_t hash = 0;
  const auto mix = [&hash](auto value) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;  // a product's low bits know nothing of the factors' high ones
  };
  for (const int64_t value : {key.M, key.N, key.K, key.a_stride, key.b_stride, key.c_stride}) {
    mix(value);
  }
  uint64_t kinds = 0;  // all that takes a few bits, in one word
  for (const DType dtype : {key.a_dtype, key.b_dtype, key.c_dtype}) {
    kinds = kinds << 4 | static_cast<uint64_t>(dtype);
  }
  for (const bool flag : {key.a_transposed, key.b_transposed, key.accumulate}) {
    kinds = kinds << 1 | static_cast<uint64_t>(flag);
  }
  mix(kinds << 2 | static_cast<uint64_t>(key.math));
  mix(uint64_t{key.a_alignment} << 32 | uint64_t{key.b_alignment} << 16 | key.c_alignment);
  return hash;
}

std::string format_tuned(const TunedGemms& gemms, uint64_t library_version) {
  std::string text = header(library_version) + '\n';
  for (const auto& [key, tuned] : gemms) append_line(text, key, tuned);
  return text + fmt::format("end {} {:016x}\n", gemms.size(), checksum(text));
}

TunedGemms parse_tuned(std::string_view text, uint64_t library_version) {
  const std::string_view first = Reader(text).line();
  const std::string expected = header(library_version);
  check(first == expected, ErrorCode::Data,
        "the tuning file is of another format or library: expected '{}', got '{}'", expected,
        first.substr(0, 80));
  // The last line vouches for all before it.
  const size_t last = text.substr(0, text.size() - 1).rfind('\n') + 1;
  Reader fields(Reader(text.substr(last)).line());
  if (text.back() != '\n' || fields.word() != "end") damaged("it does not end with its last line");
  const auto count = fields.number<size_t>();
  const auto sum = fields.number<uint64_t>(16);
  if (sum != checksum(text.substr(0, last))) damaged("its checksum is another");

  TunedGemms gemms;
  Reader body(text.substr(0, last));
  body.line();  // the header
  while (!body.at_end()) gemms.insert(parse_line(body.line()));
  if (gemms.size() != count) damaged(fmt::format("{} products, not {}", gemms.size(), count));
  return gemms;
}

TuningCache::TuningCache(std::string directory, std::string_view gpu, uint64_t library_version,
                         std::shared_ptr<Storage> storage)
    : path_(directory.empty() ? "" : join_path(directory, cache_file_name(gpu, library_version))),
      library_version_(library_version),
      storage_(std::move(storage)) {
  try {
    gemms_ = on_disk();
  } catch (const Error& error) {
    log::warn("tuning file ignored", {{"file", path_}, {"why", error.what()}});
  }
}

TunedGemms TuningCache::on_disk() const {
  if (path_.empty() || !storage_->exists(path_)) return {};
  return parse_tuned(read_text(*storage_, path_), library_version_);
}

const TunedGemm* TuningCache::find(const GemmKey& key) const {
  const auto found = gemms_.find(key);
  return found == gemms_.end() ? nullptr : &found->second;
}

void TuningCache::put(const GemmKey& key, const TunedGemm& tuned) {
  gemms_[key] = tuned;
  if (!path_.empty()) save();
}

void TuningCache::save() {
  try {
    gemms_.merge(on_disk());
  } catch (const Error&) {
    // Unusable, as was said when it was first read: it is replaced.
  }
  // A name of our own until it is complete: two of us must not write into one file.
  const std::string aside = fmt::format("{}.{}-{}", path_, getpid(), fmt::ptr(this));
  try {
    storage_->make_directories(parent_path(path_));
    write_file_atomically(*storage_, aside, format_tuned(gemms_, library_version_));
    storage_->rename(aside, path_);
  } catch (const Error& error) {
    log::warn("tuning not saved", {{"file", path_}, {"why", error.what()}});
    path_.clear();
  }
}

}  // namespace ingot::cuda
