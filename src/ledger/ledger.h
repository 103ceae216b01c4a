// An append-only file of records. One record is one line: 8 hex digits (the low 32 bits of the
// XXH3-64 of the JSON text), a space, a JSON object. If a crash tears the last line, readers stop
// before it, and it is cut off when the ledger is next opened for writing.
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
  // Opens or creates the file. Calls `visit` with the records in it, in order, then cuts off a torn
  // tail. Throws ErrorCode::Data for damage before the tail.
  LedgerWriter(std::shared_ptr<Storage> storage, std::string path, const Visit& visit);
  LedgerWriter(std::shared_ptr<Storage> storage, std::string path)
      : LedgerWriter(std::move(storage), std::move(path), [](const nlohmann::json&) {}) {}
  ~LedgerWriter();

  // Adds one record; "kind" must be a string. The record survives a crash of the process once this
  // returns, and a crash of the machine once sync() returns.
  void append(const nlohmann::json& record);
  void sync();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Calls `visit` with each record in order, without holding all of them. Returns the length of a
// torn tail, which is ignored.
int64_t for_each_record(Storage& storage, const std::string& path,
                        const std::function<void(const nlohmann::json&)>& visit);

}  // namespace ingot
