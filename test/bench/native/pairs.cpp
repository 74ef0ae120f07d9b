// FCL 0.7: a mesh against itself at other poses. (Trees of its OBBRSS took 1.08 times the time.)
//
// pairs <input> first|all

#include "fcl-collide.hpp"

int main(int, char **arguments) {
  const Poses input(arguments[1]);
  const bool all = std::string(arguments[2]) == "all";

  const double start = milliseconds();
  Model model;
  build(model, input);
  const double buildMs = milliseconds() - start;

  const std::vector<fcl::Transform3d> poses = transformsOf(input);
  const fcl::Transform3d origin = fcl::Transform3d::Identity();
  const fcl::CollisionRequestd request = requestOf(all, false);
  fcl::CollisionResultd result;
  serve("FCL " FCL_VERSION " OBB" COMPILED, buildMs, [&] {
    size_t count = 0;
    const double start = milliseconds();
    for (const fcl::Transform3d &pose : poses) {
      result.clear();
      collideMeshes(model, origin, model, pose, request, result);
      count += result.numContacts();
    }
    const double ms = milliseconds() - start;
    std::cout << "{\"ms\":" << ms << ",\"count\":" << count << "}" << std::endl;
  });
}
