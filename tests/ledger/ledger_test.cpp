#include "ledger/ledger.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error/error.h"
#include "support/forwarding_storage.h"
#include "support/ledger_contents.h"

namespace ingot {
namespace {

using Json = nlohmann::json;

const std::string kPath = "run.ledger";

Json record(int step) {
  return {{"kind", "step"}, {"step", step}, {"loss", 1.5 / (step + 1)}};
}

// A ledger of `count` records and the sizes it had after each.
std::vector<int64_t> write_records(const std::shared_ptr<Storage>& storage, int count) {
  LedgerWriter writer(storage, kPath);
  std::vector<int64_t> sizes;
  for (int i = 0; i < count; ++i) {
    writer.append(record(i));
    sizes.push_back(storage->open(kPath)->size());
  }
  writer.sync();
  return sizes;
}

void overwrite(Storage& storage, const std::string& text) {
  storage.create(kPath)->append(std::as_bytes(std::span(text)));
}

TEST(Ledger, RecordsComeBackInOrderAndAcrossReopening) {
  const auto storage = memory_storage();
  write_records(storage, 3);
  {
    LedgerWriter again(storage, kPath);
    again.append(record(3));
  }
  const test::LedgerContents contents = test::read_ledger(*storage, kPath);
  ASSERT_EQ(contents.records.size(), 4u);
  EXPECT_EQ(contents.torn_bytes, 0);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(contents.records[static_cast<size_t>(i)], record(i));
  int visited = 0;
  for_each_record(*storage, kPath, [&](const Json& r) { EXPECT_EQ(r, record(visited++)); });
  EXPECT_EQ(visited, 4);
}

TEST(Ledger, CutAtEveryByteKeepsTheWholeLinesAndWritingContinues) {
  const auto whole = memory_storage();
  const std::vector<int64_t> sizes = write_records(whole, 3);
  const std::string text = read_text(*whole, kPath);
  for (size_t length = 0; length <= text.size(); ++length) {
    const auto storage = memory_storage();
    overwrite(*storage, text.substr(0, length));
    size_t kept = 0;
    while (kept < sizes.size() && sizes[kept] <= static_cast<int64_t>(length)) ++kept;
    const int64_t kept_bytes = kept == 0 ? 0 : sizes[kept - 1];

    const test::LedgerContents torn = test::read_ledger(*storage, kPath);
    ASSERT_EQ(torn.records.size(), kept) << length;
    EXPECT_EQ(torn.torn_bytes, static_cast<int64_t>(length) - kept_bytes) << length;

    LedgerWriter(storage, kPath).append(record(99));
    const test::LedgerContents repaired = test::read_ledger(*storage, kPath);
    ASSERT_EQ(repaired.records.size(), kept + 1) << length;
    EXPECT_EQ(repaired.records.back(), record(99));
    EXPECT_EQ(repaired.torn_bytes, 0);
  }
}

TEST(Ledger, ADamagedByteBeforeTheLastLineIsAnErrorThatNamesItsLine) {
  const auto whole = memory_storage();
  const std::vector<int64_t> sizes = write_records(whole, 3);
  const std::string text = read_text(*whole, kPath);
  for (size_t at = 0; at < static_cast<size_t>(sizes[1]) - 1; ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    const auto storage = memory_storage();
    overwrite(*storage, damaged);
    const std::string line = static_cast<int64_t>(at) < sizes[0] ? "line 1" : "line 2";
    try {
      test::read_ledger(*storage, kPath);
      ADD_FAILURE() << "byte " << at << " was read as sound";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::Data);
      EXPECT_NE(std::string(error.what()).find(line), std::string::npos) << error.what();
    }
    EXPECT_THROW(LedgerWriter(storage, kPath), Error);
    EXPECT_EQ(read_text(*storage, kPath), damaged) << "damage must not be touched";
  }
}

TEST(Ledger, ADamagedByteInTheLastLineDropsThatLineAlone) {
  const auto whole = memory_storage();
  const std::vector<int64_t> sizes = write_records(whole, 2);
  std::string text = read_text(*whole, kPath);
  for (auto at = static_cast<size_t>(sizes[0]); at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    overwrite(*whole, damaged);
    const test::LedgerContents contents = test::read_ledger(*whole, kPath);
    ASSERT_EQ(contents.records.size(), 1u) << at;
    EXPECT_EQ(contents.torn_bytes, sizes[1] - sizes[0]);
  }
}

TEST(Ledger, AFileOfAnotherKindIsRefusedAndLeftAlone) {
  const auto storage = memory_storage();
  overwrite(*storage, "dear diary\ntoday\n");
  EXPECT_THROW(LedgerWriter(storage, kPath), Error);
  EXPECT_EQ(read_text(*storage, kPath), "dear diary\ntoday\n");
}

TEST(Ledger, SyncedRecordsSurviveAPowerCutAtEveryOperation) {
  for (const bool forget : {false, true}) {
    bool finished = false;
    for (int64_t cut = 1; !finished; ++cut) {
      const auto base = memory_storage();
      size_t synced = 0;
      try {
        const auto faulty =
            faulty_storage(base, {.operations_before_cut = cut, .forget_unsynced_entries = forget});
        LedgerWriter writer(faulty, kPath);
        for (int i = 0; i < 4; ++i) {
          writer.append(record(i));
          writer.sync();
          synced = static_cast<size_t>(i) + 1;
        }
        finished = true;
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::Storage);
      }
      if (base->exists(kPath)) {
        EXPECT_GE(test::read_ledger(*base, kPath).records.size(), synced) << cut;
      } else {
        EXPECT_EQ(synced, 0u) << cut;
      }
    }
  }
}

// Lets half of one append through, as a full disk does.
class FullDisk : public test::ForwardingStorage {
 public:
  using ForwardingStorage::ForwardingStorage;
  bool full = false;

  class Writer : public WritableFile {
   public:
    Writer(FullDisk& disk, std::unique_ptr<WritableFile> file)
        : disk_(disk), file_(std::move(file)) {}
    void append(std::span<const std::byte> bytes) override {
      file_->append(disk_.full ? bytes.first(bytes.size() / 2) : bytes);
      check(!disk_.full, ErrorCode::Storage, "disk full");
    }
    void sync() override { file_->sync(); }
    void close() override { file_->close(); }

   private:
    FullDisk& disk_;
    std::unique_ptr<WritableFile> file_;
  };

  std::unique_ptr<WritableFile> create(const std::string& path) override {
    return std::make_unique<Writer>(*this, base_->create(path));
  }
  std::unique_ptr<WritableFile> open_append(const std::string& path) override {
    return std::make_unique<Writer>(*this, base_->open_append(path));
  }
};

TEST(Ledger, AFailedAppendLeavesNoTornLineInTheMiddle) {
  const auto disk = std::make_shared<FullDisk>(memory_storage());
  LedgerWriter writer(disk, kPath);
  writer.append(record(0));
  disk->full = true;
  EXPECT_THROW(writer.append(record(1)), Error);
  disk->full = false;
  writer.append(record(2));
  const test::LedgerContents contents = test::read_ledger(*disk, kPath);
  ASSERT_EQ(contents.records.size(), 2u);
  EXPECT_EQ(contents.records[1], record(2));
}

TEST(Ledger, RecordsMayHoldNewlinesOddBytesAndMuchText) {
  const auto storage = memory_storage();
  const std::string long_text(3 << 20, 'x');  // longer than one read chunk
  {
    LedgerWriter writer(storage, kPath);
    writer.append({{"kind", "a\nb"}, {"text", long_text}});
    writer.append({{"kind", "odd"}, {"text", "\xff\xfe"}});
    writer.append(record(7));
  }
  const test::LedgerContents contents = test::read_ledger(*storage, kPath);
  ASSERT_EQ(contents.records.size(), 3u);
  EXPECT_EQ(contents.records[0]["kind"], "a\nb");
  EXPECT_EQ(contents.records[0]["text"], long_text);
  EXPECT_EQ(contents.records[2], record(7));
}

TEST(Ledger, ARecordWithoutAKindIsRefused) {
  const auto storage = memory_storage();
  LedgerWriter writer(storage, kPath);
  EXPECT_THROW(writer.append({{"step", 1}}), Error);
  EXPECT_THROW(writer.append({{"kind", 1}}), Error);
  EXPECT_THROW(writer.append(Json::array()), Error);
  EXPECT_TRUE(test::read_ledger(*storage, kPath).records.empty());
}

TEST(Ledger, ReadingAMissingLedgerIsADataError) {
  const auto storage = memory_storage();
  EXPECT_THROW(test::read_ledger(*storage, "none"), Error);
}

}  // namespace
}  // namespace ingot
