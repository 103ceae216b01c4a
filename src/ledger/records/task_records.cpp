#include "ledger/records/task_records.h"

#include "ledger/records/field_types.h"

namespace ingot {

template <class Kind>
nlohmann::json task_record(const Kind& record) {
  return FieldType<Kind>::write(record);
}

template <class Kind>
Kind read_task_record(const nlohmann::json& json) {
  return FieldType<Kind>::read(json);
}

#define PART(Type, since, doc)                      \
  template nlohmann::json task_record(const Type&); \
  template Type read_task_record<Type>(const nlohmann::json&);
#define KIND(Type, kind, since, doc) PART(Type, since, doc)
#include "ledger/records/task_records.def"

}  // namespace ingot
