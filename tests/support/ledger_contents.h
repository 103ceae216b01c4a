// All records of a ledger at once.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/storage/storage.h"
#include "ledger/ledger.h"

namespace ingot::test {

struct LedgerContents {
  std::vector<nlohmann::json> records;
  int64_t torn_bytes = 0;  // length of a torn tail, which was ignored
};

inline LedgerContents read_ledger(Storage& storage, const std::string& path) {
  LedgerContents contents;
  contents.torn_bytes = for_each_record(
      storage, path, [&](const nlohmann::json& record) { contents.records.push_back(record); });
  return contents;
}

}  // namespace ingot::test
