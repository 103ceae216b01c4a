// What is wrong with a request, as OpenAI's API says it.
#pragma once

#include <stdexcept>
#include <string>

namespace ingot::serve {

class ApiError : public std::runtime_error {
 public:
  // `param`: the field that is wrong; empty: none.
  ApiError(int status, const std::string& message, std::string param = "", std::string code = "");

  int status() const { return status_; }
  std::string json() const;  // {"error": {message, type, param, code}}

 private:
  int status_;
  std::string param_, code_;
};

}  // namespace ingot::serve
