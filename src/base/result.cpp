#include "base/result.h"

#include <cstring>

namespace ringside {

tl::unexpected<Error> fail_with(ErrorCode code, fmt::string_view format, fmt::format_args args) {
  return tl::unexpected<Error>(Error{code, fmt::vformat(format, args)});
}

tl::unexpected<Error> fail_errno(const std::string& what, int error) {
  return tl::unexpected<Error>(Error{error == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
                                     what + ": " + strerror(error)});
}

}  // namespace ringside
