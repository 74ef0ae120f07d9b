// What the peers that use FCL have in common: their input, and the trees that they build of it.
#pragma once

#include <fcl/geometry/bvh/BVH_model.h>

#include "peer.hpp"

using Poses = Input<double, 16>;

template <typename Model> void build(Model &model, const Poses &input) {
  std::vector<fcl::Vector3d> vertices;
  for (size_t i = 0; i < input.positions.size(); i += 3)
    vertices.emplace_back(input.positions[i], input.positions[i + 1], input.positions[i + 2]);
  std::vector<fcl::Triangle> triangles;
  for (size_t i = 0; i < input.indices.size(); i += 3)
    triangles.emplace_back(input.indices[i], input.indices[i + 1], input.indices[i + 2]);
  model.beginModel(triangles.size(), vertices.size());
  model.addSubModel(vertices, triangles);
  if (model.endModel() != fcl::BVH_OK) fail("FCL could not build the tree");
}

inline std::vector<fcl::Transform3d> transformsOf(const Poses &input) {
  std::vector<fcl::Transform3d> transforms(input.count());
  for (size_t i = 0; i < transforms.size(); i++)
    transforms[i].matrix() = Eigen::Map<const Eigen::Matrix4d>(&input.items[i * 16]);
  return transforms;
}
