#include "exporters/flamegraph/narrow_frames.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "exporters/flamegraph/xml.h"
#include "exporters/parts/json_text.h"

namespace ringside::exporters {
namespace {

using views::CallTree;

// Each text once, with its place in the order of first use. Narrow frames share most of them.
class Texts {
 public:
  std::size_t place_of(const std::string& text) {
    const auto [it, is_new] = places_.try_emplace(text, order_.size());
    if (is_new) order_.push_back(&it->first);
    return it->second;
  }
  [[nodiscard]] const std::vector<const std::string*>& order() const { return order_; }

 private:
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<const std::string*> order_;
};

}  // namespace

Result<void> write_narrow_frames(const FlamePicture& picture,
                                 const std::function<bool(const CallTree::Node& node)>& is_narrow,
                                 Sink& sink) {
  const std::vector<CallTree::Node>& nodes = picture.tree.nodes;
  if (std::none_of(nodes.begin(), nodes.end(), is_narrow)) return {};
  JsonText json(sink);
  json.add_text("<metadata id=\"narrow\">{\"frames\":[");
  Texts texts;
  std::size_t wide = 0;  // frames of the page since the last narrow one
  const char* comma = "";
  for (const CallTree::Node& node : nodes) {
    if (!is_narrow(node)) {
      ++wide;
      continue;
    }
    if (wide != 0) json.add("{}-{},", comma, wide);
    const std::size_t css_class = texts.place_of(picture.style.class_of(node));
    const std::size_t name = texts.place_of(std::string(node.name));
    const std::size_t tail = texts.place_of(picture.hint(node).substr(node.name.size()));
    json.add("{}{},{},{},{},{}", wide != 0 ? "" : comma, node.depth, node.extent, css_class, name,
             tail);
    wide = 0;
    comma = ",";
  }
  json.add_text("],\"texts\":[");
  comma = "";
  for (const std::string* const text : texts.order()) {
    json.add("{}{}", comma, xml_escape(json_quoted(*text)));
    comma = ",";
  }
  json.add_text("]}</metadata>\n");
  return json.finish();
}

}  // namespace ringside::exporters
