#include "data/shards/foreign_tokens.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "core/error.h"
#include "data/serve/mapped_file.h"

namespace ingot {
namespace {

constexpr std::array kFormats{ForeignFormat::Megatron, ForeignFormat::Datatrove,
                              ForeignFormat::LlmC, ForeignFormat::NanoGpt};
constexpr size_t kTokensAtOnce = size_t{1} << 16;

template <class T>
T load(std::string_view bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

enum class IdType { U8, I8, I16, I32, I64, U16, U32 };

size_t size_of(IdType type) {
  switch (type) {
    case IdType::U8:
    case IdType::I8:
      return 1;
    case IdType::I16:
    case IdType::U16:
      return 2;
    case IdType::I32:
    case IdType::U32:
      return 4;
    case IdType::I64:
      return 8;
  }
  return 1;
}

int64_t load_id(IdType type, std::string_view bytes, size_t at) {
  switch (type) {
    case IdType::U8:
      return load<uint8_t>(bytes, at);
    case IdType::I8:
      return load<int8_t>(bytes, at);
    case IdType::I16:
      return load<int16_t>(bytes, at);
    case IdType::U16:
      return load<uint16_t>(bytes, at);
    case IdType::I32:
      return load<int32_t>(bytes, at);
    case IdType::U32:
      return load<uint32_t>(bytes, at);
    case IdType::I64:
      return load<int64_t>(bytes, at);
  }
  return -1;
}

// Ids that lie one after the other in a mapped file.
class IdFile {
 public:
  IdFile(MappedFile file, IdType type, size_t offset, int64_t count)
      : file_(std::move(file)), type_(type), offset_(offset), count_(count) {}

  const MappedFile& file() const { return file_; }
  int64_t count() const { return count_; }

  // Ids [begin, end) in parts; nothing is said of documents.
  template <class F>
  void read(int64_t begin, int64_t end, const F& part) const {
    const size_t width = size_of(type_);
    std::vector<int32_t> ids;
    for (int64_t at = begin; at < end;) {
      ids.resize(std::min(kTokensAtOnce, static_cast<size_t>(end - at)));
      const size_t from = offset_ + static_cast<size_t>(at) * width;
      for (size_t i = 0; i < ids.size(); ++i) {
        const int64_t id = load_id(type_, file_.bytes(), from + i * width);
        check(id >= 0 && id <= INT32_MAX, ErrorCode::Data, "{}: token {} is {}: expected an id",
              file_.path(), at + static_cast<int64_t>(i), id);
        ids[i] = static_cast<int32_t>(id);
      }
      at += static_cast<int64_t>(ids.size());
      part(std::span<const int32_t>(ids), at == end);
      file_.release(from, from + ids.size() * width);
    }
  }

 private:
  MappedFile file_;
  IdType type_;
  size_t offset_;
  int64_t count_;
};

// Formats whose documents are found by the ids that begin or end them.
class MarkedTokens final : public ForeignTokens {
 public:
  MarkedTokens(ForeignFormat format, IdFile ids, DocumentMarks marks)
      : format_(format), ids_(std::move(ids)), marks_(marks) {}

  ForeignFormat format() const override { return format_; }
  int64_t num_tokens() const override { return ids_.count(); }
  void each_document(const OnPart& part) const override {
    bool open = false;  // a document was begun
    ids_.read(0, ids_.count(), [&](std::span<const int32_t> ids, bool last) {
      size_t begin = 0;
      for (size_t i = 0; i < ids.size(); ++i) {
        if (ids[i] == marks_.bos && (open || i > begin)) {  // it ends the one before
          part(ids.subspan(begin, i - begin), true);
          begin = i;
          open = false;
        }
        if (ids[i] == marks_.eos) {
          part(ids.subspan(begin, i + 1 - begin), true);
          begin = i + 1;
          open = false;
        }
      }
      if (begin < ids.size()) part(ids.subspan(begin), last);
      if (begin < ids.size()) open = true;
    });
  }

 private:
  ForeignFormat format_;
  IdFile ids_;
  DocumentMarks marks_;
};

class DatatroveTokens final : public ForeignTokens {
 public:
  DatatroveTokens(IdFile ids, MappedFile index) : ids_(std::move(ids)), index_(std::move(index)) {}

  ForeignFormat format() const override { return ForeignFormat::Datatrove; }
  int64_t num_tokens() const override { return ids_.count(); }
  void each_document(const OnPart& part) const override {
    int64_t begin = 0;
    for (size_t at = 0; at < index_.bytes().size(); at += sizeof(uint64_t)) {
      const auto end = load<uint64_t>(index_.bytes(), at);
      check(end >= static_cast<uint64_t>(begin) && end <= static_cast<uint64_t>(ids_.count()),
            ErrorCode::Data, "{}: document {} ends at {}: expected from {} to {}", index_.path(),
            at / sizeof(uint64_t), end, begin, ids_.count());
      ids_.read(begin, static_cast<int64_t>(end), part);
      begin = static_cast<int64_t>(end);
    }
  }

 private:
  IdFile ids_;
  MappedFile index_;
};

IdType megatron_type(uint8_t code, const std::string& path) {
  switch (code) {
    case 1:
      return IdType::U8;
    case 2:
      return IdType::I8;
    case 3:
      return IdType::I16;
    case 4:
      return IdType::I32;
    case 5:
      return IdType::I64;
    case 8:
      return IdType::U16;
    default:
      throw Error(ErrorCode::Data,
                  fmt::format("{}: type code {}: expected one of 1, 2, 3, 4, 5 and 8, integers",
                              path, code));
  }
}

// bytes 0-8 magic, 9-16 version, 17 type, 18-25 sequences N, 26-33 documents + 1, then int32
// lengths[N], int64 pointers[N], int64 document_indices[D].
class MegatronIndex {
 public:
  static constexpr std::string_view kMagic{"MMIDIDX\0\0", 9};
  static constexpr size_t kHeaderBytes = 34;

  explicit MegatronIndex(const std::string& path) : file_(path) {
    const std::string_view bytes = file_.bytes();
    check(bytes.size() >= kHeaderBytes && bytes.starts_with(kMagic), ErrorCode::Data,
          "{}: expected a Megatron index, which begins with MMIDIDX", path);
    check(load<uint64_t>(bytes, 9) == 1, ErrorCode::Data, "{}: version {}: expected 1", path,
          load<uint64_t>(bytes, 9));
    type_ = megatron_type(load<uint8_t>(bytes, 17), path);
    num_sequences_ = load<uint64_t>(bytes, 18);
    num_indices_ = load<uint64_t>(bytes, 26);
    const uint64_t room = bytes.size() - kHeaderBytes;
    const bool fits = num_sequences_ <= room / 12 && num_indices_ <= room / 8 &&
                      12 * num_sequences_ + 8 * num_indices_ <= room;
    check(fits && num_indices_ > 0, ErrorCode::Data,
          "{}: truncated: {} sequences and {} documents do not fit into {} bytes", path,
          num_sequences_, num_indices_ - 1, bytes.size());
    check(document(0) == 0 && document(num_indices_ - 1) == num_sequences_, ErrorCode::Data,
          "{}: the documents hold sequences {} to {}: expected 0 to {}", path, document(0),
          document(num_indices_ - 1), num_sequences_);
  }

  const std::string& path() const { return file_.path(); }
  IdType type() const { return type_; }
  uint64_t num_documents() const { return num_indices_ - 1; }
  // The sequence where a document begins; of num_documents(): where the last ends.
  uint64_t document(uint64_t number) const {
    return load<uint64_t>(file_.bytes(), kHeaderBytes + 12 * num_sequences_ + 8 * number);
  }
  int32_t length(uint64_t sequence) const {
    return load<int32_t>(file_.bytes(), kHeaderBytes + 4 * sequence);
  }
  uint64_t pointer(uint64_t sequence) const {
    return load<uint64_t>(file_.bytes(), kHeaderBytes + 4 * num_sequences_ + 8 * sequence);
  }
  uint64_t num_sequences() const { return num_sequences_; }

 private:
  MappedFile file_;
  IdType type_;
  uint64_t num_sequences_ = 0, num_indices_ = 0;
};

class MegatronTokens final : public ForeignTokens {
 public:
  MegatronTokens(MegatronIndex index, MappedFile tokens)
      : index_(std::move(index)), ids_(whole(index_, std::move(tokens))) {}

  ForeignFormat format() const override { return ForeignFormat::Megatron; }
  int64_t num_tokens() const override { return ids_.count(); }
  void each_document(const OnPart& part) const override {
    for (uint64_t i = 0; i < index_.num_documents(); ++i) {
      const uint64_t first = index_.document(i), end = index_.document(i + 1);
      check(first <= end && end <= index_.num_sequences(), ErrorCode::Data,
            "{}: document {} holds sequences {} to {}: expected ascending numbers up to {}",
            index_.path(), i, first, end, index_.num_sequences());
      for (uint64_t s = first; s < end; ++s) read_sequence(s, s + 1 == end, part);
    }
  }

 private:
  static IdFile whole(const MegatronIndex& index, MappedFile tokens) {
    const size_t width = size_of(index.type());
    check(tokens.bytes().size() % width == 0, ErrorCode::Data,
          "{}: truncated: expected a multiple of {} bytes, got {}", tokens.path(), width,
          tokens.bytes().size());
    const auto count = static_cast<int64_t>(tokens.bytes().size() / width);
    return {std::move(tokens), index.type(), 0, count};
  }

  void read_sequence(uint64_t sequence, bool ends_document, const OnPart& part) const {
    const auto width = static_cast<uint64_t>(size_of(index_.type()));
    const uint64_t pointer = index_.pointer(sequence);
    const int32_t length = index_.length(sequence);
    const auto count = static_cast<uint64_t>(ids_.count());
    check(length >= 0 && pointer % width == 0 && pointer / width <= count &&
              static_cast<uint64_t>(length) <= count - pointer / width,
          ErrorCode::Data, "{}: sequence {} of {} ids at byte {} leads outside {}", index_.path(),
          sequence, length, pointer, ids_.file().path());
    const auto begin = static_cast<int64_t>(pointer / width);
    if (length == 0 && ends_document) part({}, true);
    ids_.read(begin, begin + length,
              [&](std::span<const int32_t> ids, bool last) { part(ids, last && ends_document); });
  }

  MegatronIndex index_;
  IdFile ids_;
};

bool exists(const std::string& path) {
  return std::filesystem::exists(path);
}

std::string without(const std::string& path, std::string_view end) {
  return path.ends_with(end) ? path.substr(0, path.size() - end.size()) : path;
}

std::unique_ptr<ForeignTokens> open_datatrove(const std::string& path) {
  MappedFile tokens(path), index(path + ".index");
  const size_t index_bytes = index.bytes().size(), token_bytes = tokens.bytes().size();
  check(index_bytes % sizeof(uint64_t) == 0, ErrorCode::Data,
        "{}: truncated: expected a multiple of 8 bytes, got {}", index.path(), index_bytes);
  const auto count = load<uint64_t>(index.bytes(), index_bytes - sizeof(uint64_t));
  const bool is_u16 = count <= token_bytes && 2 * count == token_bytes;
  const bool is_u32 = count <= token_bytes && 4 * count == token_bytes;
  check(is_u16 || is_u32, ErrorCode::Data,
        "{}: truncated or changed: its index says {} ids, which are not {} bytes as u16 or u32",
        path, count, token_bytes);
  IdFile ids(std::move(tokens), is_u16 ? IdType::U16 : IdType::U32, 0, static_cast<int64_t>(count));
  return std::make_unique<DatatroveTokens>(std::move(ids), std::move(index));
}

std::unique_ptr<ForeignTokens> open_bin(const std::string& path, DocumentMarks marks) {
  constexpr size_t kHeaderBytes = 256 * sizeof(int32_t);
  MappedFile file(path);
  const std::string_view bytes = file.bytes();
  const int32_t magic = bytes.size() >= 4 ? load<int32_t>(bytes, 0) : 0;
  check(magic != 20240522, ErrorCode::Data,
        "{}: llm.c's file of evaluation examples: expected one of documents", path);
  if (magic != 20240520 && magic != 20240801) {
    check(bytes.size() % 2 == 0, ErrorCode::Data,
          "{}: truncated: expected bare u16 ids, got an odd number of bytes, {}", path,
          bytes.size());
    const auto count = static_cast<int64_t>(bytes.size() / 2);
    return std::make_unique<MarkedTokens>(ForeignFormat::NanoGpt,
                                          IdFile(std::move(file), IdType::U16, 0, count), marks);
  }
  const IdType type = magic == 20240520 ? IdType::U16 : IdType::U32;
  const int32_t version = magic == 20240520 ? 1 : 7;
  check(bytes.size() >= kHeaderBytes && load<int32_t>(bytes, 4) == version, ErrorCode::Data,
        "{}: llm.c's header: expected {} bytes and version {}", path, kHeaderBytes, version);
  const int64_t count = load<int32_t>(bytes, 8);
  const auto expected =
      static_cast<int64_t>(kHeaderBytes) + count * static_cast<int64_t>(size_of(type));
  check(count > 0 && static_cast<int64_t>(bytes.size()) == expected, ErrorCode::Data,
        "{}: truncated or changed: its header says {} ids, expected {} bytes, got {}", path, count,
        expected, bytes.size());
  return std::make_unique<MarkedTokens>(ForeignFormat::LlmC,
                                        IdFile(std::move(file), type, kHeaderBytes, count), marks);
}

}  // namespace

std::string name_of(ForeignFormat format) {
  switch (format) {
    case ForeignFormat::Megatron:
      return "megatron";
    case ForeignFormat::Datatrove:
      return "datatrove";
    case ForeignFormat::LlmC:
      return "llmc";
    case ForeignFormat::NanoGpt:
      return "nanogpt";
  }
  return "unknown";
}

ForeignFormat foreign_format_named(const std::string& name) {
  const auto found = std::find_if(kFormats.begin(), kFormats.end(),
                                  [&](ForeignFormat format) { return name_of(format) == name; });
  check(found != kFormats.end(), ErrorCode::Usage,
        "format: expected megatron, datatrove, llmc or nanogpt, got \"{}\"", name);
  return *found;
}

std::unique_ptr<ForeignTokens> open_foreign_tokens(const std::string& path, DocumentMarks marks) {
  const std::string datatrove = without(path, ".index");
  if (datatrove.ends_with(".ds")) return open_datatrove(datatrove);
  const std::string stem = without(without(path, ".bin"), ".idx");
  if (exists(stem + ".idx")) {
    return std::make_unique<MegatronTokens>(MegatronIndex(stem + ".idx"),
                                            MappedFile(stem + ".bin"));
  }
  return open_bin(path, marks);
}

}  // namespace ingot
