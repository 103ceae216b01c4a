// Generates docs/ledger-records.md and docs/task-records.md from the declarations: every kind of
// record with its fields, and what each version of the ledger added.
#pragma once

#include <string>

namespace ingot {

std::string run_records_page();
std::string task_records_page();

}  // namespace ingot
