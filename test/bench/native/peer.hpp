// What a native peer has in common with the others: it reads its input once, builds, and then does the work again for
// every line that it is sent, so that the harness can interleave it with the rest.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

[[noreturn]] inline void fail(const std::string &reason) {
  std::cerr << reason << std::endl;
  std::exit(1);
}

inline double milliseconds() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

/** As native.ts writes it: three counts, then vertices, triangles, and rays or poses. */
template <typename Item, int itemLength> struct Input {
  std::vector<float> positions; // three per vertex
  std::vector<uint32_t> indices; // three per triangle
  std::vector<Item> items; // itemLength per ray or pose

  explicit Input(const char *path) {
    FILE *file = std::fopen(path, "rb");
    if (!file) fail(std::string("cannot open ") + path);
    std::vector<uint32_t> counts(3);
    read(file, counts);
    positions.resize(size_t(counts[0]) * 3);
    indices.resize(size_t(counts[1]) * 3);
    items.resize(size_t(counts[2]) * itemLength);
    read(file, positions);
    read(file, indices);
    read(file, items);
    std::fclose(file);
  }

  size_t count() const { return items.size() / itemLength; }

private:
  template <typename Value> static void read(FILE *file, std::vector<Value> &into) {
    if (std::fread(into.data(), sizeof(Value), into.size(), file) != into.size()) fail("the input ends too early");
  }
};

/** Says what it is, then answers each line "run" with one line of JSON from `run`. Ends when its input does. */
template <typename Run> void serve(const std::string &name, double buildMs, Run run) {
  std::cout.precision(17);
  std::cout << "{\"name\":\"" << name << "\",\"buildMs\":" << buildMs << "}" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    if (line != "run") fail("expected \"run\", got \"" + line + "\"");
    run();
  }
}
