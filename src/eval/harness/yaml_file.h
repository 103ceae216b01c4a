// Reads a task file of lm-evaluation-harness.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace ingot {

// The file's mapping, over that of the file that its `include` names, beside it. Values without
// quotes are typed as PyYAML does. Throws ErrorCode::Data with file and line for what is no YAML,
// and with the name of the function for `!function`, which would run Python.
nlohmann::ordered_json read_task_yaml(const std::string& path);

}  // namespace ingot
