#include "libunwind_walker.h"

// The library exports it, its headers do not declare it.
extern "C" int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t pc,
                                                  unw_dyn_info_t* table, unw_proc_info_t* info,
                                                  int need_info, void* argument);

namespace ringside::bench {
namespace {

constexpr int kRegisters = 17;         // x86_64's: libunwind numbers them as DWARF does
constexpr std::size_t kCached = 8192;  // rules

void put_nothing(unw_addr_space_t, unw_proc_info_t*, void*) {}
int no_dynamic_code(unw_addr_space_t, unw_word_t*, void*) { return -UNW_ENOINFO; }
int no_float(unw_addr_space_t, unw_regnum_t, unw_fpreg_t*, int, void*) { return -UNW_EBADREG; }
int no_resume(unw_addr_space_t, unw_cursor_t*, void*) { return -UNW_EINVAL; }
int no_name(unw_addr_space_t, unw_word_t, char*, size_t, unw_word_t*, void*) {
  return -UNW_ENOINFO;
}

}  // namespace

Result<std::unique_ptr<LibunwindWalker>> LibunwindWalker::make(const elf::ImageMap& images) {
  auto walker = std::unique_ptr<LibunwindWalker>(new LibunwindWalker(images));
  for (const elf::Image& image : images.images())
    if (auto table = EhFrameTable::make(image)) walker->tables_.push_back(std::move(*table));
  walker->accessors_ = {.find_proc_info = find_proc_info,
                        .put_unwind_info = put_nothing,
                        .get_dyn_info_list_addr = no_dynamic_code,
                        .access_mem = read_memory,
                        .access_reg = read_register,
                        .access_fpreg = no_float,
                        .resume = no_resume,
                        .get_proc_name = no_name};
  walker->space_ = unw_create_addr_space(&walker->accessors_, 0);
  if (walker->space_ == nullptr)
    return fail(ErrorCode::kUnsupported, "unw_create_addr_space failed");
  unw_set_caching_policy(walker->space_, UNW_CACHE_GLOBAL);
  // Refused where the library keeps its cache per thread, as Debian's does: 128 rules then.
  (void)unw_set_cache_size(walker->space_, kCached, 0);
  return walker;
}

LibunwindWalker::~LibunwindWalker() {
  if (space_ != nullptr) unw_destroy_addr_space(space_);
}

std::size_t LibunwindWalker::walk(const wire::Capture& capture, std::size_t limit) {
  const unwind::StackMemory memory(capture, images_);
  memory_ = &memory;
  addresses_.clear();
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, space_, this) == 0) {
    do {
      unw_word_t pc = 0;
      if (unw_get_reg(&cursor, UNW_REG_IP, &pc) != 0) break;
      addresses_.push_back(pc);
    } while (addresses_.size() < limit && unw_step(&cursor) > 0);
  }
  memory_ = nullptr;
  return addresses_.size();
}

int LibunwindWalker::find_proc_info(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t* info,
                                    int need_info, void* self) {
  for (const EhFrameTable& table : static_cast<LibunwindWalker*>(self)->tables_) {
    if (!table.covers(pc)) continue;
    unw_dyn_info_t search{};
    search.start_ip = table.start();
    search.end_ip = table.end();
    search.format = UNW_INFO_FORMAT_REMOTE_TABLE;
    search.u.rti.segbase = table.address();
    search.u.rti.table_data = table.address();
    search.u.rti.table_len = table.rows();  // in words, and a row has 8 bytes
    return UNW_OBJ(dwarf_search_unwind_table)(space, pc, &search, info, need_info, self);
  }
  return -UNW_ENOINFO;
}

int LibunwindWalker::read_memory(unw_addr_space_t, unw_word_t address, unw_word_t* word, int write,
                                 void* self) {
  const auto& walker = *static_cast<LibunwindWalker*>(self);
  if (write != 0) return -UNW_EINVAL;
  std::optional<std::uint64_t> value;
  for (std::size_t i = 0; !value && i < walker.tables_.size(); ++i)
    value = walker.tables_[i].read(address);
  if (!value) value = walker.memory_->read_u64({address});
  if (!value) return -UNW_EINVAL;
  *word = *value;
  return 0;
}

int LibunwindWalker::read_register(unw_addr_space_t, unw_regnum_t reg, unw_word_t* value, int write,
                                   void* self) {
  if (write != 0 || reg < 0 || reg >= kRegisters) return -UNW_EBADREG;
  *value = static_cast<LibunwindWalker*>(self)->memory_->capture().registers.get(
      static_cast<std::size_t>(reg));
  return 0;
}

}  // namespace ringside::bench
