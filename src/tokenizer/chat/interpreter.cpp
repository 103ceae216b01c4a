#include "tokenizer/chat/interpreter.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "core/error/error.h"
#include "tokenizer/chat/arithmetic.h"
#include "tokenizer/chat/builtins.h"
#include "tokenizer/chat/percent_format.h"

namespace ingot::chat {
namespace {

constexpr int kMostDepth = 500;                 // of nodes and expressions, macros included
constexpr size_t kMostWork = size_t{64} << 20;  // steps, bytes made and items looped over
// What a step and an item of a list are worth, in bytes that take as long.
constexpr size_t kStepWork = 32, kItemWork = 16, kLoopWork = 256;
constexpr int64_t kMostRange = 100'000;  // Jinja's own limit
constexpr std::string_view kFunctions[] = {"raise_exception", "namespace", "range", "strftime_now",
                                           "dict"};

enum class Flow { On, Break, Continue };

struct Scope {
  Scope* outer = nullptr;
  Dict variables = {};

  Value* find(std::string_view name) {
    Scope* owner = owner_of(name);
    return owner == nullptr ? nullptr : owner->find_here(name);
  }
  // Where a name is known; null: nowhere.
  Scope* owner_of(std::string_view name) {
    for (Scope* scope = this; scope != nullptr; scope = scope->outer) {
      if (scope->find_here(name) != nullptr) return scope;
    }
    return nullptr;
  }
  Value* find_here(std::string_view name) {
    for (auto& [known, value] : variables) {
      if (known == name) return &value;
    }
    return nullptr;
  }
  void set(const std::string& name, Value value) {
    if (Value* old = find_here(name)) {
      *old = std::move(value);
    } else {
      variables.emplace_back(name, std::move(value));
    }
  }
};

class Interpreter {
 public:
  Interpreter(const Value& variables, std::string_view origin) : origin_(origin) {
    for (const std::string_view name : kFunctions) {
      globals_.set(std::string(name), Value::Data(Function{std::string(name)}));
    }
    for (const auto& [name, value] : *variables.as_dict()) globals_.set(name, value);
  }
  ~Interpreter() {  // namespaces may hold each other
    for (Value& space : namespaces_) space.as_namespace()->clear();
  }
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;

  MarkedText run(const std::vector<Node>& nodes) {
    try {
      MarkedText out;
      run(nodes, globals_, out);
      return out;
    } catch (const Error& error) {
      throw Error(ErrorCode::Data, fmt::format("{}, line {} of the chat template: {}", origin_,
                                               line_, error.what()));
    }
  }

 private:
  // Ends what does not end by itself, or would end the stack.
  class Step {
   public:
    Step(Interpreter& in, int line) : in_(in) {
      if (line > 0) in_.line_ = line;
      in_.spend(kStepWork);
      ++in_.depth_;
      check(in_.depth_ <= kMostDepth, ErrorCode::Data, "macros call each other too deeply");
    }
    ~Step() { --in_.depth_; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    Interpreter& in_;
  };

  void spend(size_t work) {
    check(work <= kMostWork - work_, ErrorCode::Data,
          "it does not end, or makes texts that are too long");
    work_ += work;
  }
  size_t work_left() const { return kMostWork - work_; }

  Flow run(const std::vector<Node>& nodes, Scope& scope, MarkedText& out) {
    for (const Node& node : nodes) {
      if (const Flow flow = run(node, scope, out); flow != Flow::On) return flow;
    }
    return Flow::On;
  }

  Flow run(const Node& node, Scope& scope, MarkedText& out) {
    const Step step(*this, node.line);
    switch (node.kind) {
      case Node::Kind::Text:
        spend(node.text.size());
        out.append(node.text, true);
        return Flow::On;
      case Node::Kind::Print:
        append(evaluate(*node.value, scope).marked(), out);
        return Flow::On;
      case Node::Kind::If:
        return run(evaluate(*node.value, scope).is_true() ? node.body : node.otherwise, scope, out);
      case Node::Kind::For:
        return run_for(node, scope, out);
      case Node::Kind::Set:
        set(node, evaluate(*node.value, scope), scope);
        return Flow::On;
      case Node::Kind::SetBlock:
      case Node::Kind::FilterBlock: {
        MarkedText text;
        Scope inner{&scope};
        const Flow flow = run(node.body, inner, text);
        inner.set(std::string(kBlockText), Value::text(text));
        const Value made = node.value ? evaluate(*node.value, inner) : Value::text(text);
        if (node.kind == Node::Kind::SetBlock) {
          scope.set(node.names[0], made);
        } else {
          append(made.marked(), out);
        }
        return flow;
      }
      case Node::Kind::With: {
        Scope inner{&scope};
        for (size_t i = 0; i < node.names.size(); ++i) {
          inner.set(node.names[i], evaluate(*node.defaults[i], scope));
        }
        return run(node.body, inner, out);
      }
      case Node::Kind::Macro:
        scope.set(node.text, Value::Data(Macro{&node}));
        return Flow::On;
      case Node::Kind::Break:
        return Flow::Break;
      case Node::Kind::Continue:
        return Flow::Continue;
      case Node::Kind::Generation: {
        MarkedText text;
        const Flow flow = run(node.body, scope, text);
        text.mark_generation();
        append(text, out);
        return flow;
      }
    }
    return Flow::On;
  }

  void append(const MarkedText& text, MarkedText& out) {
    spend(text.text.size());
    out.append(text);
  }

  static void assign(const std::vector<std::string>& names, const Value& value, Scope& scope) {
    if (names.size() == 1) return scope.set(names[0], value);
    const List items = items_of(value);
    check(items.size() == names.size(), ErrorCode::Data, "expected {} values, got {}", names.size(),
          items.size());
    for (size_t i = 0; i < names.size(); ++i) scope.set(names[i], items[i]);
  }

  static void set(const Node& node, const Value& value, Scope& scope) {
    if (node.object.empty()) return assign(node.names, value, scope);
    Value* object = scope.find(node.object);
    Dict* space = object == nullptr ? nullptr : object->as_namespace();
    check(space != nullptr, ErrorCode::Data, "«{}» is no namespace", node.object);
    for (auto& [name, old] : *space) {
      if (name == node.text) {
        old = value;
        return;
      }
    }
    space->emplace_back(node.text, value);
  }

  Flow run_for(const Node& node, Scope& scope, MarkedText& out) {
    List items = settled_items_of(evaluate(*node.value, scope));
    spend(items.size() * kItemWork);
    if (node.condition) {
      List kept;
      for (const Value& item : items) {
        Scope inner{&scope};
        assign(node.names, item, inner);
        if (evaluate(*node.condition, inner).is_true()) kept.push_back(item);
      }
      items = std::move(kept);
    }
    if (items.empty()) return run(node.otherwise, scope, out);
    for (size_t i = 0; i < items.size(); ++i) {
      Scope inner{&scope};
      assign(node.names, items[i], inner);
      inner.set("loop", loop_at(items, i));
      spend(kLoopWork);
      if (run(node.body, inner, out) == Flow::Break) break;
    }
    return Flow::On;
  }

  static List settled_items_of(const Value& value) {
    List items = items_of(value);
    for (Value& item : items) item = item.settled(value.has_message());
    return items;
  }

  static Value loop_at(const List& items, size_t i) {
    const size_t n = items.size();
    return Value::dict(
        {{"index", Value::integer(i + 1)},
         {"index0", Value::integer(i)},
         {"revindex", Value::integer(n - i)},
         {"revindex0", Value::integer(n - i - 1)},
         {"first", Value::Data(i == 0)},
         {"last", Value::Data(i + 1 == n)},
         {"length", Value::integer(n)},
         {"depth", Value::integer(1)},  // only recursive loops go deeper
         {"depth0", Value::integer(0)},
         {"previtem", i == 0 ? Value::undefined("loop.previtem") : items[i - 1]},
         {"nextitem", i + 1 == n ? Value::undefined("loop.nextitem") : items[i + 1]}});
  }

  Value evaluate(const Expression& expression, Scope& scope) {
    const Step step(*this, expression.line);
    const auto part = [&](size_t i) { return evaluate(*expression.parts[i], scope); };
    switch (expression.kind) {
      case Expression::Kind::Literal:
        return expression.value.settled(false);
      case Expression::Kind::Name: {
        const Value* value = scope.find(expression.text);
        return value == nullptr ? Value::undefined(expression.text) : *value;
      }
      case Expression::Kind::Items: {
        List items;
        for (size_t i = 0; i < expression.parts.size(); ++i) items.push_back(part(i));
        return expression.text.empty() ? Value::list(std::move(items))
                                       : Value::tuple(std::move(items));
      }
      case Expression::Kind::Pairs: {
        Scope made;  // for its way of setting
        bool keys_have_message = false;
        for (size_t i = 0; i < expression.parts.size(); i += 2) {
          const Value key = part(i);
          keys_have_message |= key.has_message();
          made.set(text_of(key, "a key of a dict"), part(i + 1));
        }
        return keys_have_message ? Value::message_dict(std::move(made.variables))
                                 : Value::dict(std::move(made.variables));
      }
      case Expression::Kind::Attribute:
        return attribute(part(0), expression.text);
      case Expression::Kind::Index:
        return index(part(0), part(1));
      case Expression::Kind::Slice:
        return slice(expression, scope);
      case Expression::Kind::Call:
        return call(expression, scope);
      case Expression::Kind::Filter: {
        const Value value = part(0);
        const CallArguments arguments = evaluate(expression.arguments, scope);
        const Value result = apply_filter(expression.text, value, arguments, work_left());
        return spent(result.settled(value.has_message() || have_message(arguments)));
      }
      case Expression::Kind::Test: {
        const Value value = part(0);
        return Value::Data(
            apply_test(expression.text, value, evaluate(expression.arguments, scope)));
      }
      case Expression::Kind::Not:
        return Value::Data(!part(0).is_true());
      case Expression::Kind::Minus: {
        const Value value = part(0);
        check(value.is_number(), ErrorCode::Data, "-: expected a number, got {}", kind_of(value));
        return calculate("*", value, Value::Data(int64_t{-1}));
      }
      case Expression::Kind::Binary: {
        const Value a = part(0), b = part(1);
        return binary(expression.text, a, b).settled(a.has_message() || b.has_message());
      }
      case Expression::Kind::And: {
        Value left = part(0);
        return left.is_true() ? part(1) : left;
      }
      case Expression::Kind::Or: {
        Value left = part(0);
        return left.is_true() ? left : part(1);
      }
      case Expression::Kind::Compare:
        return compare(expression, scope);
      case Expression::Kind::Choice:
        if (part(0).is_true()) return part(1);
        return expression.parts[2] ? part(2) : Value::undefined("the value of an «if»");
    }
    return {};
  }

  Value spent(Value value) {
    if (const auto* text = value.as_text()) spend(text->size());
    if (const auto* list = value.as_list()) spend(list->size() * kItemWork);
    return value;
  }

  static void check_defined(const Value& value) {
    if (const auto* undefined = value.as_undefined()) {
      throw Error(ErrorCode::Data, fmt::format("«{}» is undefined", undefined->name));
    }
  }

  Value binary(std::string_view op, const Value& a, const Value& b) {
    if (op == "~") {
      MarkedText text = a.marked();
      text.append(b.marked());
      return spent(Value::text(std::move(text)));
    }
    check_defined(a);
    check_defined(b);
    if (a.is_number() && b.is_number()) return calculate(op, a, b);
    if (op == "+" && a.as_text() != nullptr && b.as_text() != nullptr) {
      spend(a.as_text()->size() + b.as_text()->size());
      MarkedText text = a.marked();
      text.append(b.marked());
      return Value::text(std::move(text));
    }
    if (op == "+" && a.as_list() != nullptr && b.as_list() != nullptr) {
      spend((a.as_list()->size() + b.as_list()->size()) * kItemWork);
      check(a.is_tuple() == b.is_tuple(), ErrorCode::Data, "a list + a tuple");
      List both = *a.as_list();
      both.insert(both.end(), b.as_list()->begin(), b.as_list()->end());
      return a.is_tuple() ? Value::tuple(std::move(both)) : Value::list(std::move(both));
    }
    if (op == "*" && a.as_integer() != nullptr && !b.is_number()) return binary(op, b, a);
    if (op == "*" && b.as_integer() != nullptr && (a.as_text() != nullptr || a.as_list())) {
      return repeated(a, static_cast<size_t>(std::max<int64_t>(0, *b.as_integer())));
    }
    if (op == "%" && a.as_text() != nullptr) {
      const bool has_names = !b.is_tuple() && (b.as_dict() != nullptr || b.as_list() != nullptr);
      return spent(Value::text(formatted_by_percent(
          *a.as_text(), {b.is_tuple() ? *b.as_list() : List{b}, has_names ? &b : nullptr},
          work_left())));
    }
    throw Error(ErrorCode::Data,
                fmt::format("{} {} {}: expected numbers, or strings or lists to put together",
                            kind_of(a), op, kind_of(b)));
  }

  Value repeated(const Value& value, size_t times) {
    const size_t size =
        value.as_text() != nullptr ? value.as_text()->size() : value.as_list()->size() * kItemWork;
    check(size == 0 || times <= work_left() / size, ErrorCode::Data,
          "it makes texts that are too long");
    const MarkedText once = value.as_text() == nullptr ? MarkedText() : value.marked();
    MarkedText text;
    List items;
    for (size_t i = 0; i < times && size > 0; ++i) {
      if (value.as_text() != nullptr) {
        text.append(once);
      } else {
        items.insert(items.end(), value.as_list()->begin(), value.as_list()->end());
      }
    }
    if (value.as_text() != nullptr) return spent(Value::text(std::move(text)));
    return spent(value.is_tuple() ? Value::tuple(std::move(items)) : Value::list(std::move(items)));
  }

  Value compare(const Expression& expression, Scope& scope) {
    Value left = evaluate(*expression.parts[0], scope);
    for (size_t i = 0; i < expression.operators.size(); ++i) {
      Value right = evaluate(*expression.parts[i + 1], scope);
      if (!holds(expression.operators[i], left, right)) return Value::Data(false);
      left = std::move(right);
    }
    return Value::Data(true);
  }

  static bool holds(std::string_view op, const Value& a, const Value& b) {
    if (op == "==") return a == b;
    if (op == "!=") return !(a == b);
    if (op == "in") return contains(b, a);
    if (op == "not in") return !contains(b, a);
    check_defined(a);
    check_defined(b);
    if (op == "<") return is_less(a, b);
    if (op == ">") return is_less(b, a);
    return op == "<=" ? !is_less(b, a) : !is_less(a, b);
  }

  static Value attribute(const Value& object, const std::string& name) {
    check_defined(object);
    if (has_method(object, name)) return Value::Data(Function{name});
    if (const Value* found = object.find(name)) return *found;
    return Value::undefined(name);
  }

  static Value index(const Value& object, const Value& key) {
    check_defined(object);
    if (object.as_dict() != nullptr || key.as_text() != nullptr) {
      const Value* found = key.as_text() == nullptr ? nullptr : object.find(*key.as_text());
      return found == nullptr ? Value::undefined(key.str()) : *found;
    }
    check(key.as_integer() != nullptr, ErrorCode::Data, "an index: expected an integer, got {}",
          kind_of(key));
    const List items = settled_items_of(object);
    const auto size = static_cast<int64_t>(items.size());
    const int64_t at = *key.as_integer() + (*key.as_integer() < 0 ? size : 0);
    return at < 0 || at >= size ? Value::undefined(fmt::format("item {}", *key.as_integer()))
                                : items[static_cast<size_t>(at)];
  }

  Value slice(const Expression& expression, Scope& scope) {
    const Value object = evaluate(*expression.parts[0], scope);
    check_defined(object);
    const auto bound = [&](size_t i, int64_t otherwise) {
      if (!expression.parts[i]) return otherwise;
      const Value value = evaluate(*expression.parts[i], scope);
      if (value.is_none()) return otherwise;
      check(value.as_integer() != nullptr, ErrorCode::Data, "a slice: expected integers, got {}",
            kind_of(value));
      return *value.as_integer();
    };
    check(object.as_list() != nullptr || object.as_text() != nullptr, ErrorCode::Data,
          "a slice: expected a list or a string, got {}", kind_of(object));
    const List items = settled_items_of(object);
    spend(items.size() * kItemWork);
    const auto size = static_cast<int64_t>(items.size());
    const int64_t step = bound(3, 1);
    check(step != 0 && step != INT64_MIN, ErrorCode::Data, "a slice: {} is no step", step);
    const auto clamped = [&](int64_t at) {
      const int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
      return std::clamp(at < 0 ? at + size : at, low, high);
    };
    constexpr int64_t kNone = INT64_MAX;
    const int64_t given_begin = bound(1, kNone), given_end = bound(2, kNone);
    const int64_t begin = given_begin == kNone ? (step > 0 ? 0 : size - 1) : clamped(given_begin);
    const int64_t end = given_end == kNone ? (step > 0 ? size : -1) : clamped(given_end);
    List taken;
    MarkedText text;
    for (int64_t i = begin; step > 0 ? i < end : i > end;) {
      if (object.as_list() != nullptr) {
        taken.push_back(items[static_cast<size_t>(i)]);
      } else {
        text.append(items[static_cast<size_t>(i)].marked());
      }
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    if (object.as_list() == nullptr) return Value::text(std::move(text));
    return object.is_tuple() ? Value::tuple(std::move(taken)) : Value::list(std::move(taken));
  }

  static bool have_message(const CallArguments& arguments) {
    return std::ranges::any_of(arguments.positional, &Value::has_message) ||
           std::ranges::any_of(arguments.named,
                               [](const auto& named) { return named.second.has_message(); });
  }

  CallArguments evaluate(const Arguments& arguments, Scope& scope) {
    CallArguments values;
    for (const auto& value : arguments.positional) {
      values.positional.push_back(evaluate(*value, scope));
    }
    for (const auto& [name, value] : arguments.named) {
      values.named.emplace_back(name, evaluate(*value, scope));
    }
    return values;
  }

  Value call(const Expression& expression, Scope& scope) {
    const Expression& callee = *expression.parts[0];
    if (callee.kind == Expression::Kind::Attribute) {
      const Value object = evaluate(*callee.parts[0], scope);
      check_defined(object);
      if (callee.parts[0]->text == "loop" && callee.text == "cycle" && object.find("index0")) {
        const CallArguments given = evaluate(expression.arguments, scope);
        check(!given.positional.empty(), ErrorCode::Data, "loop.cycle: expected values");
        const auto at = static_cast<size_t>(*object.find("index0")->as_integer());
        return given.positional[at % given.positional.size()];
      }
      if (has_method(object, callee.text)) {
        const CallArguments arguments = evaluate(expression.arguments, scope);
        return spent(call_method(object, callee.text, arguments, work_left())
                         .settled(object.has_message() || have_message(arguments)));
      }
    }
    const Value function = evaluate(callee, scope);
    const CallArguments arguments = evaluate(expression.arguments, scope);
    if (const auto* macro = function.as_macro()) {
      // It sees what is known where it was made; one that was handed on, only what all see.
      const bool by_name = callee.kind == Expression::Kind::Name;
      Scope* made_in = by_name ? scope.owner_of(callee.text) : nullptr;
      return call_macro(*macro->node, arguments, made_in == nullptr ? globals_ : *made_in);
    }
    check(function.as_function() != nullptr && callee.kind == Expression::Kind::Name,
          ErrorCode::Data, "«{}» cannot be called", callee.text);
    return call_function(function.as_function()->name, arguments).settled(have_message(arguments));
  }

  Value call_macro(const Node& macro, const CallArguments& arguments, Scope& made_in) {
    check(arguments.positional.size() <= macro.names.size(), ErrorCode::Data,
          "«{}» takes {} arguments, got {}", macro.text, macro.names.size(),
          arguments.positional.size());
    Scope scope{&made_in};
    for (size_t i = 0; i < macro.names.size(); ++i) {
      const Value* given = arguments.get(i, macro.names[i]);
      scope.set(macro.names[i], given != nullptr    ? *given
                                : macro.defaults[i] ? evaluate(*macro.defaults[i], scope)
                                                    : Value::undefined(macro.names[i]));
    }
    MarkedText text;
    run(macro.body, scope, text);
    return Value::text(std::move(text));
  }

  Value call_function(std::string_view name, const CallArguments& arguments) {
    if (name == "namespace") {
      namespaces_.push_back(Value::name_space(arguments.named));
      return namespaces_.back();
    }
    if (name == "dict") return Value::dict(arguments.named);
    check(!arguments.positional.empty(), ErrorCode::Data, "{}: expected an argument", name);
    const Value& first = arguments.positional[0];
    if (name == "range") return range(arguments.positional);
    if (name == "raise_exception") throw Error(ErrorCode::Data, first.str());
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    char text[256];
    const size_t size = std::strftime(text, sizeof(text), first.str().c_str(), &local);
    return Value::text(std::string_view(text, size));
  }

  Value range(const List& bounds) {
    int64_t values[3] = {0, 0, 1};
    check(bounds.size() <= 3, ErrorCode::Data, "range: expected 1 to 3 numbers");
    for (size_t i = 0; i < bounds.size(); ++i) {
      check(bounds[i].as_integer() != nullptr, ErrorCode::Data, "range: expected integers, got {}",
            kind_of(bounds[i]));
      values[bounds.size() == 1 ? 1 : i] = *bounds[i].as_integer();
    }
    const auto [begin, end, step] = values;
    check(step != 0, ErrorCode::Data, "range: 0 is no step");
    const double count =
        (static_cast<double>(end) - static_cast<double>(begin)) / static_cast<double>(step);
    check(count <= static_cast<double>(kMostRange), ErrorCode::Data,
          "range: expected at most {} numbers", kMostRange);
    List numbers;
    for (int64_t i = begin; step > 0 ? i < end : i > end;) {
      numbers.push_back(Value::Data(i));
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    spend(numbers.size() * kItemWork);
    return Value::list(std::move(numbers));
  }

  std::string_view origin_;
  Scope globals_;
  List namespaces_;  // all that were made
  int line_ = 0;
  int depth_ = 0;
  size_t work_ = 0;
};

}  // namespace

MarkedText run(const std::vector<Node>& nodes, const Value& variables, std::string_view origin) {
  return Interpreter(variables, origin).run(nodes);
}

}  // namespace ingot::chat
