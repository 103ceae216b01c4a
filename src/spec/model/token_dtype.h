// Element type of a token file, as a recipe says it.
#pragma once

namespace ingot {

enum class TokenDType { Auto, U16, U32 };  // Auto: by the file's header, else U16

}  // namespace ingot
