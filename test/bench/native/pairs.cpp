// FCL 0.7: a mesh against itself at other poses, through a tree of oriented boxes, in float64. Its collide() would come
// here too, after it has looked up what the two shapes are. (Trees of its OBBRSS took 1.08 times the time.)
//
// pairs <input> first|all
//
// Debian's library is compiled for any x86-64. With COMPILED_HERE the templates that do the work are compiled by us
// instead, for this machine: about 1.9 times as fast.

#include <fcl/narrowphase/collision_request.h>
#include <fcl/narrowphase/collision_result.h>
#include <fcl/narrowphase/detail/traversal/collision/mesh_collision_traversal_node.h>
#include <fcl/narrowphase/detail/traversal/collision_node.h>

#include <limits>

#include "fcl.hpp"

#ifdef COMPILED_HERE
#define COMPILED ", -O3 -march=native"
namespace fcl {
template class OBB<double>;
template bool obbDisjoint(const Matrix3d &, const Vector3d &, const Vector3d &, const Vector3d &);
namespace detail {
template class MeshCollisionTraversalNodeOBB<double>;
template class Intersect<double>;
template void collide(CollisionTraversalNodeBase<double> *, BVHFrontList *);
template void collisionRecurse(CollisionTraversalNodeBase<double> *, int, int, BVHFrontList *);
} // namespace detail
} // namespace fcl
#else
#define COMPILED ", Debian's library"
#endif

using Model = fcl::BVHModel<fcl::OBBd>;

int main(int, char **arguments) {
  const Poses input(arguments[1]);
  const bool all = std::string(arguments[2]) == "all";

  const double start = milliseconds();
  Model model;
  build(model, input);
  const double buildMs = milliseconds() - start;

  const std::vector<fcl::Transform3d> poses = transformsOf(input);
  const fcl::Transform3d origin = fcl::Transform3d::Identity();
  const fcl::CollisionRequestd request(all ? std::numeric_limits<size_t>::max() : 1, false);
  fcl::CollisionResultd result;
  serve("FCL " FCL_VERSION " OBB" COMPILED, buildMs, [&] {
    size_t count = 0;
    const double start = milliseconds();
    for (const fcl::Transform3d &pose : poses) {
      result.clear();
      fcl::detail::MeshCollisionTraversalNodeOBB<double> node;
      fcl::detail::initialize(node, model, origin, model, pose, request, result);
      fcl::detail::collide(&node);
      count += result.numContacts();
    }
    const double ms = milliseconds() - start;
    std::cout << "{\"ms\":" << ms << ",\"count\":" << count << "}" << std::endl;
  });
}
