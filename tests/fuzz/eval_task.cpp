// Items of evaluation tasks, and the index made of them, from any bytes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/error/error.h"
#include "ingest/decontaminate/contamination_index.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const ingot::EvalTask task = ingot::parse_eval_task("task", text, "fuzz");
    ingot::ContaminationSettings settings;
    settings.n_gram = 3;
    const ingot::ContaminationIndex index(settings, {task});
    if (index.tasks()[0].unprotected > index.tasks()[0].items) __builtin_trap();
    ingot::ContaminationFinder finder(index);
    for (const ingot::EvalItem& item : task.items) finder.find(item.query + " " + item.label);
  } catch (const ingot::Error&) {
  }
  return 0;
}
