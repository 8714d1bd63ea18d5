#pragma once
// How gradients are summed over ranks (rank_tree.hpp).

namespace lockstep {

enum class RankReduction { tree, gather, library };

}  // namespace lockstep
