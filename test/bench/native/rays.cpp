// Embree 3, as it is fastest for rays that have nothing to do with each other: rtcIntersect1, one ray after the other
// (packets and streams are for rays that stay together), the best tree that it builds (with spatial splits), the
// traversal that is not robust, denormals flushed.
//
// rays <input> <device configuration>

#include <embree3/rtcore.h>
#include <pmmintrin.h>
#include <xmmintrin.h>

#include "peer.hpp"

static void check(RTCDevice device) {
  const RTCError error = rtcGetDeviceError(device);
  if (error != RTC_ERROR_NONE) fail("Embree error " + std::to_string(error));
}

static RTCScene build(RTCDevice device, const Input<float, 8> &input) {
  RTCGeometry mesh = rtcNewGeometry(device, RTC_GEOMETRY_TYPE_TRIANGLE);
  const size_t vertices = input.positions.size() / 3, triangles = input.indices.size() / 3;
  void *positions =
      rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 3 * sizeof(float), vertices);
  void *indices =
      rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 3 * sizeof(uint32_t), triangles);
  check(device);
  std::copy(input.positions.begin(), input.positions.end(), static_cast<float *>(positions));
  std::copy(input.indices.begin(), input.indices.end(), static_cast<uint32_t *>(indices));
  rtcSetGeometryBuildQuality(mesh, RTC_BUILD_QUALITY_HIGH);
  rtcCommitGeometry(mesh);

  RTCScene scene = rtcNewScene(device);
  rtcSetSceneFlags(scene, RTC_SCENE_FLAG_NONE);
  rtcSetSceneBuildQuality(scene, RTC_BUILD_QUALITY_HIGH);
  rtcAttachGeometry(scene, mesh);
  rtcCommitScene(scene);
  check(device);
  return scene;
}

/** What our own raycastMany answers for a ray, too. */
struct Hit {
  float distance, u, v;
  uint32_t triangle; // RTC_INVALID_GEOMETRY_ID where missed
};

static void castAll(RTCScene scene, const std::vector<float> &rays, std::vector<Hit> &hits) {
  RTCIntersectContext context;
  rtcInitIntersectContext(&context);
  for (size_t i = 0; i < hits.size(); i++) {
    const float *from = &rays[i * 8];
    RTCRayHit ray = {};
    ray.ray.org_x = from[0];
    ray.ray.org_y = from[1];
    ray.ray.org_z = from[2];
    ray.ray.tnear = from[3];
    ray.ray.dir_x = from[4];
    ray.ray.dir_y = from[5];
    ray.ray.dir_z = from[6];
    ray.ray.tfar = from[7];
    ray.ray.mask = ~0u;
    ray.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    ray.hit.primID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(scene, &context, &ray);
    hits[i] = {ray.ray.tfar, ray.hit.u, ray.hit.v, ray.hit.primID};
  }
}

int main(int, char **arguments) {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  const Input<float, 8> input(arguments[1]);
  RTCDevice device = rtcNewDevice(arguments[2]);
  if (!device) check(nullptr);

  const double start = milliseconds();
  RTCScene scene = build(device, input);
  const double buildMs = milliseconds() - start;

  std::vector<Hit> hits(input.count());
  serve(std::string("Embree " RTC_VERSION_STRING ", -O3 -march=native, ") + arguments[2], buildMs, [&] {
    const double start = milliseconds();
    castAll(scene, input.items, hits);
    const double ms = milliseconds() - start;
    size_t count = 0;
    double sum = 0;
    for (const Hit &hit : hits) {
      if (hit.triangle == RTC_INVALID_GEOMETRY_ID) continue;
      count++;
      sum += hit.distance;
    }
    check(device);
    std::cout << "{\"ms\":" << ms << ",\"hits\":" << count << ",\"sum\":" << sum << "}" << std::endl;
  });
  rtcReleaseScene(scene);
  rtcReleaseDevice(device);
}
