#include "app/launch_end.h"

namespace ringside::app {
namespace {

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;
constexpr int kCannotRecord = 125;  // as env(1) and timeout(1) have it for their own failures

}  // namespace

int exit_status(const Result<void>& result, const LaunchEnd& end) {
  if (end.by_itself.value_or(0) != 0) return *end.by_itself;
  if (result) return 0;
  if (result.error().code == ErrorCode::kUsage) return kWrongUsage;
  return end.could_record ? kFailed : kCannotRecord;
}

}  // namespace ringside::app
