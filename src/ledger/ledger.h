// Append-only run records. One record is one line: 8 hex digits (the low 32 bits of the XXH3-64 of
// the JSON text), a space, a JSON object. A line is whole or it is dropped: a torn last line left
// by a crash is cut off when the ledger is next opened for writing, and readers stop before it.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/storage/storage.h"

namespace ingot {

class LedgerWriter {
 public:
  using Visit = std::function<void(const nlohmann::json&)>;
  // Opens or creates; repairs a torn tail, after `visit` saw what was there in order. Throws
  // ErrorCode::Data on damage before the tail.
  LedgerWriter(std::shared_ptr<Storage> storage, std::string path, const Visit& visit);
  LedgerWriter(std::shared_ptr<Storage> storage, std::string path)
      : LedgerWriter(std::move(storage), std::move(path), [](const nlohmann::json&) {}) {}
  ~LedgerWriter();

  // Adds one record; "kind" must be a string. Survives a crash of the process once it returns, and
  // of the machine once sync() returns.
  void append(const nlohmann::json& record);
  void sync();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

struct LedgerContents {
  std::vector<nlohmann::json> records;
  int64_t torn_bytes = 0;  // length of a damaged tail that was ignored
};

LedgerContents read_ledger(Storage& storage, const std::string& path);

// The same without holding all records: calls `visit` in order.
void for_each_record(Storage& storage, const std::string& path,
                     const std::function<void(const nlohmann::json&)>& visit);

}  // namespace ingot
