// The interface of the module libingot_sentencepiece.so, the only code that links libsentencepiece.
// It is loaded when a model is trained, so that the program also runs on machines without the
// library.
#pragma once

#include <functional>
#include <string>
#include <unordered_map>

namespace ingot {

inline constexpr char kSentencePieceModule[] = "libingot_sentencepiece.so";
inline constexpr char kTrainFunction[] = "ingot_train_sentencepiece";

// `arguments`: SentencePieceTrainer's, by name. `next` returns the next sentence, false at the end;
// `log` receives each progress line of the library; neither throws. Sets `model` to the file's
// contents, or `error` to the error text.
using TrainFunction = void(const std::unordered_map<std::string, std::string>& arguments,
                           const std::function<bool(std::string&)>& next,
                           const std::function<void(const std::string&)>& log, std::string& model,
                           std::string& error);

}  // namespace ingot
