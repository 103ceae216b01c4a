// The records of data jobs' tasks that task_records.def declares.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ledger/records/declared.h"
#include "ledger/task_folder.h"

namespace ingot {

struct PlaceRecord;
struct SampleRecord;
using Counts = std::map<std::string, int64_t>;
using Places = std::map<std::string, PlaceRecord>;
using SampleLists = std::map<std::string, std::vector<SampleRecord>>;

#include "ledger/records/begin_structs.h"
#include "ledger/records/task_records.def"

#include "ledger/records/begin_declared.h"
#include "ledger/records/task_records.def"

// Defined for every kind and part.
template <class Kind>
nlohmann::json task_record(const Kind& record);
// Throws ErrorCode::Data, naming the field, if `json` does not match the declaration of the kind.
// Unknown fields are ignored.
template <class Kind>
Kind read_task_record(const nlohmann::json& json);

// For finished tasks. They throw ErrorCode::Data, with the path, for a record of another kind.
template <class Kind>
Kind task_record_of(const TaskFolder& tasks, int64_t task) {
  Kind record;
  tasks.read_record(task,
                    [&](const nlohmann::json& json) { record = read_task_record<Kind>(json); });
  return record;
}
template <class Kind>
void for_each_task_record(const TaskFolder& tasks,
                          const std::function<void(int64_t task, const Kind& record)>& visit) {
  for (int64_t task = 0; task < tasks.num_tasks(); ++task)
    visit(task, task_record_of<Kind>(tasks, task));
}

}  // namespace ingot
