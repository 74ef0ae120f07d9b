// What the peers that use FCL have in common: their input, and the trees that they build of it.
#pragma once

#include <fcl/geometry/bvh/BVH_model.h>

#include <algorithm>

#include "peer.hpp"

using Poses = Input<double, 16>;

/** Builds the tree of so many triangles from the first on. */
template <typename Model, typename Item, int itemLength>
void build(Model &model, const Input<Item, itemLength> &input, size_t firstTriangle, size_t count) {
  const auto from = input.indices.begin() + 3 * firstTriangle, end = from + 3 * count;
  if (from == end) fail("FCL could not build the tree: it has no triangles");
  const auto range = std::minmax_element(from, end);
  const size_t low = *range.first, high = *range.second;
  std::vector<fcl::Vector3d> vertices;
  for (size_t i = 3 * low; i < 3 * (high + 1); i += 3)
    vertices.emplace_back(input.positions[i], input.positions[i + 1], input.positions[i + 2]);
  std::vector<fcl::Triangle> triangles;
  for (auto corner = from; corner < end; corner += 3)
    triangles.emplace_back(corner[0] - low, corner[1] - low, corner[2] - low);
  model.beginModel(triangles.size(), vertices.size());
  model.addSubModel(vertices, triangles);
  if (model.endModel() != fcl::BVH_OK) fail("FCL could not build the tree");
}

template <typename Model, typename Item, int itemLength>
void build(Model &model, const Input<Item, itemLength> &input) {
  build(model, input, 0, input.indices.size() / 3);
}

inline std::vector<fcl::Transform3d> transformsOf(const Poses &input) {
  std::vector<fcl::Transform3d> transforms(input.count());
  for (size_t i = 0; i < transforms.size(); i++)
    transforms[i].matrix() = Eigen::Map<const Eigen::Matrix4d>(&input.items[i * 16]);
  return transforms;
}
