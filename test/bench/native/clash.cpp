// FCL 0.7: all pairs of parts that collide, by its manager of the broad phase (a dynamic tree of boxes). Parts of the same
// mesh share a tree.
//
// clash <input> first|all
//
// With `all`, every pair of triangles is a contact with its point, its normal, and how deep the one triangle lies behind the
// plane of the other. That is not how deep the meshes are in each other, which FCL does not compute.
//
// Items are parts, 18 numbers each: a matrix, the first triangle of its mesh, and how many it has.

#include "fcl-collide.hpp"

#include <fcl/broadphase/broadphase_dynamic_AABB_tree.h>

#include <map>
#include <memory>

#ifdef COMPILED_HERE
namespace fcl {
template class DynamicAABBTreeCollisionManager<double>;
} // namespace fcl
#endif

using Parts = Input<double, 18>;

struct Pairs {
  bool all;
  size_t count = 0;
};

static bool lookAt(fcl::CollisionObjectd *a, fcl::CollisionObjectd *b, void *data) {
  auto *pairs = static_cast<Pairs *>(data);
  fcl::CollisionResultd result;
  const auto *meshA = static_cast<const Model *>(a->collisionGeometry().get());
  const auto *meshB = static_cast<const Model *>(b->collisionGeometry().get());
  collideMeshes(*meshA, a->getTransform(), *meshB, b->getTransform(), requestOf(pairs->all, pairs->all), result);
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
    if (!model) {
      model = std::make_shared<Model>();
      build(*model, input, first, size_t(part[17]));
    }
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
