// Makes the next table (*.def) specialize Declared for each part and kind. No #pragma once: it is
// included for every table.
#define DECLARED(Type, name, since, doc, is_kind)   \
  template <>                                       \
  struct Declared<Type> {                           \
    static constexpr std::string_view kName = name; \
    static constexpr int kSince = since;            \
    static constexpr std::string_view kDoc = doc;   \
    static constexpr bool kIsKind = is_kind;        \
    template <class Object, class Visitor>          \
    static void visit(Object& object, const Visitor& visitor) {
#define PART(Type, since, doc) DECLARED(Type, #Type, since, doc, false)
#define KIND(Type, kind, since, doc) DECLARED(Type, kind, since, doc, true)
#define METRIC(type, name, since, unit, title, doc)                          \
  static_assert((since) == kSince || kIsOptional<type> || kIsList<type>,     \
                "older records have no " #name ": make it a std::optional"); \
  visitor(FieldInfo{#name, since, unit, title, doc}, object.name);
#define END(Type) \
  }               \
  }               \
  ;
