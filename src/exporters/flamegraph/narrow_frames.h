#pragma once

#include <functional>

#include "exporters/flamegraph/flame_picture.h"
#include "exporters/sink.h"
#include "views/call_tree.h"

namespace ringside::exporters {

// Writes the frames that are no elements of the page, one number or text after the other, for
// flamegraph_frames.js to make elements of:
//   <metadata id="narrow">{"frames":[-2,3,40,0,1,2,-1],"texts":["k4","memcpy"," (40 ticks, …"]}
// A negative number -n stands for the next n frames of the page. All others stand in fives: a
// frame's depth, its weight, and the places in "texts" of its class, its name, and what its tooltip
// has behind the name. The order is that of the tree, preorder. Without such a frame, writes
// nothing.
[[nodiscard]] Result<void> write_narrow_frames(
    const FlamePicture& picture,
    const std::function<bool(const views::CallTree::Node& node)>& is_narrow, Sink& sink);

}  // namespace ringside::exporters
