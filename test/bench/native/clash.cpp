// FCL 0.7: all pairs of parts that collide, by its manager of the broad phase (a dynamic tree of boxes) and trees of oriented
// boxes, in float64. Parts of the same mesh share a tree.
//
// clash <input> first|all
//
// Its collide() would come here too, after it has looked up what the two shapes are. With `all`, every pair of triangles is
// a contact with its point, normal and depth.
//
// Items are parts, 18 numbers each: a matrix, the first triangle of its mesh, and how many it has.
//
// Debian's library is compiled for any x86-64. With COMPILED_HERE the templates that do the work are compiled by us
// instead, for this machine.

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>
#include <fcl/narrowphase/collision_request.h>
#include <fcl/narrowphase/collision_result.h>
#include <fcl/narrowphase/detail/traversal/collision/mesh_collision_traversal_node.h>
#include <fcl/narrowphase/detail/traversal/collision_node.h>

#include <limits>
#include <map>
#include <memory>

#include "fcl.hpp"

#ifdef COMPILED_HERE
#define COMPILED ", -O3 -march=native"
namespace fcl {
template class OBB<double>;
template bool obbDisjoint(const Matrix3d &, const Vector3d &, const Vector3d &, const Vector3d &);
template class DynamicAABBTreeCollisionManager<double>;
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
using Parts = Input<double, 18>;

static std::shared_ptr<Model> modelOf(const Parts &input, size_t first, size_t count) {
  auto model = std::make_shared<Model>();
  model->beginModel(count, 3 * count);
  for (size_t i = 3 * first; i < 3 * (first + count); i += 3) {
    fcl::Vector3d corners[3];
    for (size_t k = 0; k < 3; k++) {
      const float *from = &input.positions[3 * input.indices[i + k]];
      corners[k] = fcl::Vector3d(from[0], from[1], from[2]);
    }
    model->addTriangle(corners[0], corners[1], corners[2]);
  }
  if (model->endModel() != fcl::BVH_OK) fail("FCL could not build a tree");
  return model;
}

struct Pairs {
  bool all;
  size_t count = 0;
};

static bool lookAt(fcl::CollisionObjectd *a, fcl::CollisionObjectd *b, void *data) {
  auto *pairs = static_cast<Pairs *>(data);
  const fcl::CollisionRequestd request(pairs->all ? std::numeric_limits<size_t>::max() : 1, pairs->all);
  fcl::CollisionResultd result;
  const auto *meshA = static_cast<const Model *>(a->collisionGeometry().get());
  const auto *meshB = static_cast<const Model *>(b->collisionGeometry().get());
  fcl::detail::MeshCollisionTraversalNodeOBB<double> node;
  fcl::detail::initialize(node, *meshA, a->getTransform(), *meshB, b->getTransform(), request, result);
  fcl::detail::collide(&node);
  if (result.isCollision()) pairs->count++;
  return false;
}

int main(int, char **arguments) {
  const Parts input(arguments[1]);
  const bool all = std::string(arguments[2]) == "all";

  const double start = milliseconds();
  std::map<size_t, std::shared_ptr<Model>> models;
  std::vector<std::unique_ptr<fcl::CollisionObjectd>> objects;
  for (size_t i = 0; i < input.count(); i++) {
    const double *part = &input.items[18 * i];
    const size_t first = size_t(part[16]);
    auto &model = models[first];
    if (!model) model = modelOf(input, first, size_t(part[17]));
    fcl::Transform3d transform;
    transform.matrix() = Eigen::Map<const Eigen::Matrix4d>(part);
    objects.push_back(std::make_unique<fcl::CollisionObjectd>(model, transform));
  }
  const double buildMs = milliseconds() - start;

  serve("FCL " FCL_VERSION " OBB" COMPILED, buildMs, [&] {
    Pairs pairs{all};
    const double start = milliseconds();
    fcl::DynamicAABBTreeCollisionManagerd manager;
    for (const auto &object : objects) manager.registerObject(object.get());
    manager.setup();
    manager.collide(&pairs, lookAt);
    const double ms = milliseconds() - start;
    std::cout << "{\"ms\":" << ms << ",\"count\":" << pairs.count << "}" << std::endl;
  });
}
