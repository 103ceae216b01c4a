// From here to settings/end.h the rows of a table (*.def) are declarations, appended to `rows` and
// bound to the fields of `section`; `prefix` is the section's name with its dot. No #pragma once:
// it is included many times.
#define INGOT_ROW(scope, setting) rows.push_back(with_scope(SettingScope::scope, setting));
#define FLAG(field, fallback, scope, doc) \
  INGOT_ROW(scope, flag_setting(prefix + #field, section.field, doc))
#define INTEGER(field, fallback, min, max, unit, scope, doc) \
  INGOT_ROW(scope, integer_setting(prefix + #field, section.field, Range{min, max}, unit, doc))
#define NUMBER(field, fallback, min, max, unit, scope, doc) \
  INGOT_ROW(scope, number_setting(prefix + #field, section.field, Range{min, max}, unit, doc))
#define TEXT(field, fallback, scope, doc) \
  INGOT_ROW(scope, text_setting(prefix + #field, section.field, doc))
#define LIST(field, scope, doc, ...) \
  INGOT_ROW(scope, list_setting(prefix + #field, section.field, doc))
#define ENUM(type, field, fallback, scope, doc, ...) \
  INGOT_ROW(scope, enum_setting<type>(prefix + #field, section.field, {__VA_ARGS__}, doc))
