// Element type of a token file, as written in a recipe.
#pragma once

namespace ingot {

enum class TokenDType { Auto, U16, U32 };  // Auto: by the file's header, else U16

}  // namespace ingot
