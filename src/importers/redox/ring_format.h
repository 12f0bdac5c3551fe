#pragma once

#include "wire/redox/ring_sample.h"

// Names of the rings' layout that the importer uses.
namespace ringside::importers::redox {

using wire::redox::find_piece_a;
using wire::redox::find_piece_b;
using wire::redox::FindPiece;
using wire::redox::Found;
using wire::redox::is_user_address;
using wire::redox::kMostWords;
using wire::redox::Piece;
using wire::redox::RingFormat;
using wire::redox::RingSample;
using wire::redox::RingWords;

}  // namespace ringside::importers::redox
