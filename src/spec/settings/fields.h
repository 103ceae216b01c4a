// From here to settings/end.h the rows of a table (*.def) are fields of a struct. No #pragma once:
// it is included many times.
//
// A row declares a setting completely: field, default, range, unit and meaning.
//   FLAG(field, default, scope, doc)
//   INTEGER(field, default, min, max, unit, scope, doc)
//   NUMBER(field, default, min, max, unit, scope, doc)
//   TEXT(field, default, scope, doc)
//   LIST(field, scope, doc, word…)                        words, the default ones
//   ENUM(type, field, default, scope, doc, {name, value}…)
// `scope` is a SettingScope. The section's name is given where the table is included.
#define FLAG(field, fallback, scope, doc) bool field = fallback;
#define INTEGER(field, fallback, min, max, unit, scope, doc) int64_t field = fallback;
#define NUMBER(field, fallback, min, max, unit, scope, doc) double field = fallback;
#define TEXT(field, fallback, scope, doc) std::string field = fallback;
#define LIST(field, scope, doc, ...) std::vector<std::string> field{__VA_ARGS__};
#define ENUM(type, field, fallback, scope, doc, ...) type field = fallback;
