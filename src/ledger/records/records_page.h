// The pages docs/ledger-records.md and docs/task-records.md: every kind of record and its fields,
// and what each version of the ledger brought, from their declarations.
#pragma once

#include <string>

namespace ingot {

std::string run_records_page();
std::string task_records_page();

}  // namespace ingot
