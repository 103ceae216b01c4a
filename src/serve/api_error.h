// An error in a request, in the form of OpenAI's API.
#pragma once

#include <stdexcept>
#include <string>

namespace ingot::serve {

class ApiError : public std::runtime_error {
 public:
  // `param`: the wrong field; empty: no single field.
  ApiError(int status, const std::string& message, std::string param = "", std::string code = "");

  int status() const { return status_; }
  std::string json() const;  // {"error": {message, type, param, code}}

 private:
  int status_;
  std::string param_, code_;
};

}  // namespace ingot::serve
