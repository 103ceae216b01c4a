// Makes the next table (*.def) define a struct for each part and kind. No #pragma once: it is
// included for every table.
#define PART(Type, since, doc) struct Type {
#define KIND(Type, kind, since, doc) struct Type {
#define METRIC(type, name, since, unit, title, doc) type name = {};
#define END(Type)                               \
  bool operator==(const Type&) const = default; \
  }                                             \
  ;
