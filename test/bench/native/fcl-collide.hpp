// How the peers that use FCL look for the triangles of two meshes that meet: through trees of oriented boxes, in float64.
// FCL's collide() would come here too, after it has looked up what the two shapes are.
//
// Debian's library is compiled for any x86-64. With COMPILED_HERE the templates that do the work are compiled by us
// instead, for this machine: about 1.9 times as fast.
#pragma once

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

/** Stops at the first pair of triangles unless all are wanted. With contacts, each pair has its points, normal and depth. */
inline fcl::CollisionRequestd requestOf(bool all, bool contacts) {
  return fcl::CollisionRequestd(all ? std::numeric_limits<size_t>::max() : 1, contacts);
}

/** Adds the pairs of triangles of two placed meshes to the result. */
inline void collideMeshes(const Model &a, const fcl::Transform3d &placeA, const Model &b, const fcl::Transform3d &placeB,
                          const fcl::CollisionRequestd &request, fcl::CollisionResultd &result) {
  fcl::detail::MeshCollisionTraversalNodeOBB<double> node;
  fcl::detail::initialize(node, a, placeA, b, placeB, request, result);
  fcl::detail::collide(&node);
}
