// FCL 0.7: how far a mesh is from itself at other poses, through a tree of oriented boxes and rectangle swept spheres
// (OBBRSS), in float64. Its distance() would come here too, after it has looked up what the two shapes are.
//
// distance <input> obbrss
//
// Debian's library is compiled for any x86-64. With COMPILED_HERE the templates that do the work are compiled by us
// instead, for this machine.

#include <fcl/narrowphase/distance_request.h>
#include <fcl/narrowphase/distance_result.h>
#include <fcl/narrowphase/detail/traversal/collision_node.h>
#include <fcl/narrowphase/detail/traversal/distance/mesh_distance_traversal_node.h>

#include "fcl.hpp"

#ifdef COMPILED_HERE
#define COMPILED ", -O3 -march=native"
namespace fcl {
template class RSS<double>;
template class OBBRSS<double>;
template double rectDistance(const Matrix3d &, const Vector3d &, const double[2], const double[2], Vector3d *, Vector3d *);
namespace detail {
template class TriangleDistance<double>;
template class MeshDistanceTraversalNodeOBBRSS<double>;
template void distance(DistanceTraversalNodeBase<double> *, BVHFrontList *, int);
template void distanceRecurse(DistanceTraversalNodeBase<double> *, int, int, BVHFrontList *);
} // namespace detail
} // namespace fcl
#else
#define COMPILED ", Debian's library"
#endif

using Model = fcl::BVHModel<fcl::OBBRSSd>;

int main(int, char **arguments) {
  const Poses input(arguments[1]);

  const double start = milliseconds();
  Model model;
  build(model, input);
  const double buildMs = milliseconds() - start;

  const std::vector<fcl::Transform3d> poses = transformsOf(input);
  const fcl::Transform3d origin = fcl::Transform3d::Identity();
  const fcl::DistanceRequestd request(true);
  fcl::DistanceResultd result;
  serve("FCL " FCL_VERSION " OBBRSS" COMPILED, buildMs, [&] {
    double sum = 0;
    const double start = milliseconds();
    for (const fcl::Transform3d &pose : poses) {
      result.clear();
      fcl::detail::MeshDistanceTraversalNodeOBBRSS<double> node;
      fcl::detail::initialize(node, model, origin, model, pose, request, result);
      fcl::detail::distance(&node);
      sum += result.min_distance;
    }
    const double ms = milliseconds() - start;
    std::cout << "{\"ms\":" << ms << ",\"sum\":" << sum << "}" << std::endl;
  });
}
