#include "tokenizer/chat/list_filters.h"

#include <algorithm>

#include "core/error/error.h"
#include "tokenizer/chat/builtins.h"
#include "tokenizer/chat/text_case.h"

namespace ingot::chat {
namespace {

// Whether an item's attribute, or the item itself, passes a test that the arguments from `first` on
// name; without one, whether it is true.
bool passes(const Value& value, const CallArguments& arguments, size_t first) {
  if (arguments.positional.size() <= first) return value.is_true();
  CallArguments rest;
  rest.positional.assign(arguments.positional.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                         arguments.positional.end());
  return apply_test(text_of(arguments.positional[first], "select"), value, rest);
}

// A path such as "function.name"; a number in it is a place in a list.
Value attribute_of(const Value& item, const Value& attribute) {
  const std::string path =
      attribute.as_integer() == nullptr ? text_of(attribute, "attribute") : attribute.str();
  Value value = item;
  for (size_t at = 0; at <= path.size();) {
    const std::string name = path.substr(at, std::min(path.find('.', at), path.size()) - at);
    at += name.size() + 1;
    const bool is_place = !name.empty() && name.find_first_not_of("0123456789") == name.npos;
    if (is_place && value.as_list() != nullptr) {
      const size_t place = name.size() > 9 ? SIZE_MAX : std::stoul(name);
      if (place >= value.as_list()->size()) return Value::undefined(name);
      value = Value((*value.as_list())[place]);
      continue;
    }
    const Value* found = value.find(name);
    if (found == nullptr) return Value::undefined(name);
    value = Value(*found);
  }
  return value;
}

Value select(std::string_view name, const Value& value, const CallArguments& arguments) {
  const bool by_attribute = name.ends_with("attr"), wanted = name.starts_with("select");
  List kept;
  for (const Value& item : items_of(value)) {
    const bool passed =
        by_attribute
            ? passes(attribute_of(item, needed(arguments, 0, "attribute", name)), arguments, 1)
            : passes(item, arguments, 0);
    if (passed == wanted) kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

Value map(const Value& value, const CallArguments& arguments, size_t most_bytes) {
  List mapped;
  const Value* attribute = arguments.get(SIZE_MAX, "attribute");
  const Value* otherwise = arguments.get(SIZE_MAX, "default");
  for (const Value& item : items_of(value)) {
    if (attribute != nullptr) {
      Value found = attribute_of(item, *attribute);
      if (found.as_undefined() != nullptr && otherwise != nullptr) found = *otherwise;
      mapped.push_back(std::move(found));
      continue;
    }
    CallArguments rest;
    const Value& filter = needed(arguments, 0, "filter", "map");
    rest.positional.assign(arguments.positional.begin() + 1, arguments.positional.end());
    rest.named = arguments.named;
    mapped.push_back(apply_filter(text_of(filter, "map"), item, rest, most_bytes));
  }
  return Value::list(std::move(mapped));
}

// What items are ordered and told apart by: the attribute, strings in small letters unless the
// filter is told to see capitals.
class Key {
 public:
  Key(const CallArguments& arguments, size_t place_of_case, size_t place_of_attribute)
      : sees_case_(arguments.is_true(place_of_case, "case_sensitive")),
        attribute_(arguments.get(place_of_attribute, "attribute")) {
    if (attribute_ != nullptr && attribute_->is_none()) attribute_ = nullptr;
  }
  Value operator()(const Value& item) const {
    Value key = attribute_ == nullptr ? item : attribute_of(item, *attribute_);
    return sees_case_ || key.as_text() == nullptr ? key : Value::text(lower(*key.as_text()));
  }

 private:
  bool sees_case_;
  const Value* attribute_;
};

struct Keyed {
  Value key, item;
};

List sorted(std::vector<Keyed> items, bool reverse) {
  std::stable_sort(items.begin(), items.end(), [&](const Keyed& a, const Keyed& b) {
    return reverse ? is_less(b.key, a.key) : is_less(a.key, b.key);
  });
  List list;
  for (Keyed& keyed : items) list.push_back(std::move(keyed.item));
  return list;
}

Value sort(const Value& value, const CallArguments& arguments) {
  const Key key(arguments, 1, 2);
  std::vector<Keyed> items;
  for (const Value& item : items_of(value)) items.push_back({key(item), item});
  return Value::list(sorted(std::move(items), arguments.is_true(0, "reverse")));
}

Value unique(const Value& value, const CallArguments& arguments) {
  const Key key(arguments, 0, 1);
  List seen, kept;
  for (const Value& item : items_of(value)) {
    Value one = key(item);
    if (std::find(seen.begin(), seen.end(), one) != seen.end()) continue;
    seen.push_back(std::move(one));
    kept.push_back(item);
  }
  return Value::list(std::move(kept));
}

Value extreme(const Value& value, const CallArguments& arguments, bool largest) {
  const Key key(arguments, 0, 1);
  const List items = items_of(value);
  if (items.empty()) return Value::undefined("an item of an empty list");
  const Value* best = items.data();
  for (const Value& item : items) {
    const Value a = key(item), b = key(*best);
    if (largest ? is_less(b, a) : is_less(a, b)) best = &item;
  }
  return *best;
}

Value sum(const Value& value, const CallArguments& arguments) {
  const Value* attribute = arguments.get(0, "attribute");
  const Value* start = arguments.get(1, "start");
  Value total = start == nullptr ? Value::Data(int64_t{0}) : *start;
  for (const Value& item : items_of(value)) {
    const bool plain = attribute == nullptr || attribute->is_none();
    const Value one = plain ? item : attribute_of(item, *attribute);
    check(total.is_number() && one.is_number(), ErrorCode::Data, "sum: expected numbers, got {}",
          kind_of(one));
    if (total.as_float() != nullptr || one.as_float() != nullptr) {
      total = Value::Data(total.number() + one.number());
      continue;
    }
    int64_t result = 0;
    check(!__builtin_add_overflow(integer_of(total, "sum"), integer_of(one, "sum"), &result),
          ErrorCode::Data, "sum: a number that is too large");
    total = Value::Data(result);
  }
  return total;
}

Value batch(const Value& value, const CallArguments& arguments) {
  const int64_t size = integer_of(needed(arguments, 0, "linecount", "batch"), "batch");
  check(size > 0 && size <= 1000, ErrorCode::Data, "batch: {} is no size", size);
  const auto count = static_cast<size_t>(size);
  const Value* fill = arguments.get(1, "fill_with");
  List rows, row;
  for (const Value& item : items_of(value)) {
    if (row.size() == count) rows.push_back(Value::list(std::exchange(row, {})));
    row.push_back(item);
  }
  if (row.empty()) return Value::list(std::move(rows));
  if (fill != nullptr && !fill->is_none()) row.resize(count, *fill);
  rows.push_back(Value::list(std::move(row)));
  return Value::list(std::move(rows));
}

}  // namespace

Value dict_sorted(const Value& dict, const CallArguments& arguments) {
  const Value* by = arguments.get(1, "by");
  const bool by_value = by != nullptr && text_of(*by, "dictsort") == "value";
  check(by == nullptr || by_value || *by->as_text() == "key", ErrorCode::Data,
        "dictsort: expected to sort by \"key\" or \"value\"");
  const Key key(arguments, 0, SIZE_MAX);
  std::vector<Keyed> pairs;
  for (const auto& [name, item] : *dict.as_dict()) {
    pairs.push_back(
        {key(by_value ? item : Value::text(name)), Value::tuple({Value::text(name), item})});
  }
  return Value::list(sorted(std::move(pairs), arguments.is_true(2, "reverse")));
}

std::optional<Value> apply_list_filter(std::string_view name, const Value& value,
                                       const CallArguments& arguments, size_t most_bytes) {
  if (name == "map") return map(value, arguments, most_bytes);
  if (name == "select" || name == "reject" || name == "selectattr" || name == "rejectattr") {
    return select(name, value, arguments);
  }
  if (name == "sort") return sort(value, arguments);
  if (name == "unique") return unique(value, arguments);
  if (name == "min" || name == "max") return extreme(value, arguments, name == "max");
  if (name == "sum") return sum(value, arguments);
  if (name == "batch") return batch(value, arguments);
  return std::nullopt;
}

}  // namespace ingot::chat
