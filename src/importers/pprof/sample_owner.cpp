#include "importers/pprof/sample_owner.h"

#include <array>
#include <limits>

#include "base/whole_number.h"

namespace ringside::importers::pprof {
namespace {

constexpr std::size_t kMostOthers = 64;
constexpr std::size_t kLongestOther = 64;  // bytes

struct Label {
  TextIndex key = 0;
  std::string_view text;
  std::uint64_t number = 0;

  template <class Number>
  [[nodiscard]] std::optional<Number> as() const {
    if (!text.empty()) return whole_number<Number>(text);
    if (number > std::numeric_limits<Number>::max()) return std::nullopt;
    return static_cast<Number>(number);
  }
};

std::optional<PrivilegeLevel> level_of(std::string_view mode) {
  struct Mode {
    std::string_view name;
    PrivilegeLevel level;
  };
  static constexpr std::array<Mode, 10> kModes = {{{"kernel", PrivilegeLevel::kKernel},
                                                   {"user", PrivilegeLevel::kUser},
                                                   {"firmware", PrivilegeLevel::kFirmware},
                                                   {"guest", PrivilegeLevel::kGuest},
                                                   {"unknown", PrivilegeLevel::kUnknown},
                                                   {"Host Kernel", PrivilegeLevel::kKernel},
                                                   {"Host User", PrivilegeLevel::kUser},
                                                   {"Guest Kernel", PrivilegeLevel::kGuest},
                                                   {"Guest User", PrivilegeLevel::kGuest},
                                                   {"Hypervisor", PrivilegeLevel::kKernel}}};
  for (const Mode& known : kModes)
    if (known.name == mode) return known.level;
  return std::nullopt;
}

// False where the label says nothing of an owner.
bool take(std::string_view key, const Label& label, SampleOwner& owner) {
  const auto is = [key](std::string_view a, std::string_view b) { return key == a || key == b; };
  if (key == "pid") {
    owner.pid = label.as<std::uint32_t>();
  } else if (is("tid", "thread id")) {
    owner.tid = label.as<std::uint32_t>();
  } else if (is("vcpu", "cpu")) {
    owner.vcpu = VcpuId{label.as<std::uint16_t>().value_or(recording::kNoVcpu.value)};
  } else if (key == "thread_comm" || is("thread_name", "thread name")) {
    owner.name = label.text;
  } else if (is("comm", "thread")) {
    if (owner.name.empty()) owner.name = label.text;
  } else if (key == "cgroup") {
    owner.cgroup = label.text;
  } else if (is("mode", "execution_mode")) {
    owner.is_idle = label.text == "idle";
    owner.level = level_of(label.text);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool LabelReader::add(std::string_view message, SampleOwner& owner) {
  Label label;
  FieldReader reader(message);
  Field field;
  while (reader.next(field)) {
    if (!field.is_number) continue;
    if (field.tag == field::kKey) label.key = field.number;
    if (field.tag == field::kText) label.text = messages_.text(field.number);
    if (field.tag == field::kNumber) label.number = field.number;
  }
  if (reader.is_broken()) return false;
  const std::string_view key = messages_.text(label.key);
  if (take(key, label, owner) || label.key == last_other_) return true;
  last_other_ = label.key;
  if (!key.empty() && others_.size() < kMostOthers) others_.emplace(key.substr(0, kLongestOther));
  return true;
}

}  // namespace ringside::importers::pprof
