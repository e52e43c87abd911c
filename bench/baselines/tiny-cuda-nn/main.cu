// FullyFusedMLP and CutlassMLP of tiny-cuda-nn, measured as 'warpwright perf mlp' measures its own:
//   mlp_tcnn FILE
// FILE has a task on each line: mlp widths=64,64,64 act=relu dtype=f16 rows=1048576. Networks that tiny-cuda-nn does not
// compute (other types than f16, hidden layers of several widths, biases) are left out, and so said. CUDA graphs of 12
// launches, inputs rotated past three times L2, bursts of 8 ms after a rest of 40 ms in turn, then without rest; outputs are
// compared with sums in f64 on drawn rows. One line of JSON for each task.
#include <tiny-cuda-nn/common.h>
#include <tiny-cuda-nn/gpu_matrix.h>
#include <tiny-cuda-nn/network.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call)                                                                          \
  do {                                                                                       \
    cudaError_t e_ = (call);                                                                 \
    if (e_ != cudaSuccess) throw std::runtime_error(std::string(#call ": ") + cudaGetErrorString(e_)); \
  } while (0)

using T = tcnn::network_precision_t;

static const int LAUNCHES = 12;
static const double TOLERANCE = 4e-3;

struct Task {
  std::string line, act;
  std::vector<int> widths;
  long rows;
  unsigned long long seed;
};

// Normally distributed numbers by a counter.
__global__ void fill(T* x, size_t n, unsigned long long seed) {
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
    unsigned long long z = (i + 1) * 0x9E3779B97F4A7C15ull + seed;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
    const float u = ((unsigned)(z >> 40) + 0.5f) / 16777216.0f, v = ((unsigned)(z & 0xFFFFFF) + 0.5f) / 16777216.0f;
    x[i] = (T)(sqrtf(-2 * logf(u)) * cospif(2 * v));
  }
}

static double activate(const std::string& act, double x) {
  if (act == "relu") return std::max(x, 0.0);
  if (act == "sin") return std::sin(x);
  if (act == "tanh") return std::tanh(x);
  if (act == "sigmoid") return 1 / (1 + std::exp(-x));
  if (act == "softplus") return std::log1p(std::exp(x));
  return x;
}

static const std::map<std::string, std::string> ACTIVATIONS = {
    {"relu", "ReLU"}, {"sin", "Sine"}, {"tanh", "Tanh"}, {"sigmoid", "Sigmoid"}, {"softplus", "Softplus"}, {"none", "None"}};

static double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

struct Contestant {
  std::string name;
  std::unique_ptr<tcnn::Network<T>> network;
  std::vector<cudaGraphExec_t> graphs;
  std::vector<double> bursts;
  double sustained = 0, error = 0;
  size_t next = 0;
  int burst = 1;
};

struct Memory {
  T *x = nullptr, *y = nullptr, *params = nullptr;
  std::vector<void*> all;
  T* allocate(size_t elements) {
    void* p = nullptr;
    CHECK(cudaMalloc(&p, elements * sizeof(T)));
    all.push_back(p);
    return static_cast<T*>(p);
  }
  ~Memory() {
    for (void* p : all) cudaFree(p);
  }
};

static double run(Contestant& c, int count, cudaStream_t stream, cudaEvent_t a, cudaEvent_t b) {
  CHECK(cudaEventRecord(a, stream));
  for (int i = 0; i < count; ++i) CHECK(cudaGraphLaunch(c.graphs[c.next++ % c.graphs.size()], stream));
  CHECK(cudaEventRecord(b, stream));
  CHECK(cudaEventSynchronize(b));
  float ms;
  CHECK(cudaEventElapsedTime(&ms, a, b));
  return ms * 1e3 / (double(count) * LAUNCHES);
}

static void measure(const Task& task) {
  const int L = (int)task.widths.size() - 1, in = task.widths.front(), out = task.widths.back(), width = task.widths[1];
  for (int l = 1; l < L; ++l)
    if (task.widths[l] != width) throw std::runtime_error("hidden layers of several widths");
  if (L < 2) throw std::runtime_error("no hidden layer");
  if (in % 16) throw std::runtime_error("inputs are no multiple of 16");
  const int padded = (out + 15) / 16 * 16;
  const auto act = ACTIVATIONS.find(task.act);
  if (act == ACTIVATIONS.end()) throw std::runtime_error("no activation " + task.act);

  cudaDeviceProp prop;
  CHECK(cudaGetDeviceProperties(&prop, 0));
  const size_t rows = task.rows, bytes = rows * (in + padded) * sizeof(T);
  const int sets = (int)std::min<size_t>(4096, std::max<size_t>(2, (3ull * prop.l2CacheSize + bytes - 1) / bytes));
  Memory memory;
  memory.x = memory.allocate(rows * in * sets), memory.y = memory.allocate(rows * padded * sets);
  fill<<<2048, 256>>>(memory.x, rows * in * sets, task.seed);
  CHECK(cudaDeviceSynchronize());

  // Weights [outputs][inputs] of one layer behind the other's, as both networks have them.
  std::mt19937_64 random(task.seed);
  std::normal_distribution<double> normal;
  std::vector<T> weights;
  std::vector<size_t> begins;
  double square = 1;
  for (int l = 0; l < L; ++l) {
    const int k = task.widths[l], n = l == L - 1 ? padded : width;
    begins.push_back(weights.size());
    for (int i = 0; i < n * k; ++i) weights.push_back((T)(float)(i / k < task.widths[l + 1] ? normal(random) / std::sqrt(k * square) : 0));
    double sum = 0;
    for (int i = 0; i < 4096; ++i) sum += std::pow(activate(task.act, normal(random)), 2);
    square = sum / 4096;
  }
  memory.params = memory.allocate(weights.size());
  CHECK(cudaMemcpy(memory.params, weights.data(), weights.size() * sizeof(T), cudaMemcpyHostToDevice));
  T* gradients = memory.allocate(weights.size());

  cudaStream_t stream;
  cudaEvent_t a, b;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&a));
  CHECK(cudaEventCreate(&b));
  std::vector<Contestant> contestants;
  std::string failures;
  for (const char* name : {"FullyFusedMLP", "CutlassMLP"}) {
    try {
      Contestant c;
      c.name = name;
      c.network.reset(tcnn::create_network<T>({{"otype", name}, {"n_input_dims", in}, {"n_output_dims", out},
          {"n_neurons", width}, {"n_hidden_layers", L - 1}, {"activation", act->second}, {"output_activation", "None"}}));
      if (c.network->n_params() != weights.size()) throw std::runtime_error("its weights are laid out otherwise");
      c.network->set_params(memory.params, memory.params, gradients);
      auto launch = [&](int set) {
        tcnn::GPUMatrixDynamic<T> x(memory.x + rows * in * set, in, (uint32_t)rows), y(memory.y + rows * padded * set, padded, (uint32_t)rows);
        c.network->inference_mixed_precision(stream, x, y, true);
      };
      CHECK(cudaMemsetAsync(memory.y, 0xFF, rows * padded * sizeof(T), stream));
      for (int i = 0; i < 3; ++i) launch(0);
      CHECK(cudaStreamSynchronize(stream));
      // Rows drawn anew, in f64 with the weights as they were rounded.
      double err = 0, ref = 0;
      for (int i = 0; i < 512; ++i) {
        const size_t row = random() % rows;
        std::vector<T> x(in), y(padded);
        CHECK(cudaMemcpy(x.data(), memory.x + row * in, in * sizeof(T), cudaMemcpyDeviceToHost));
        CHECK(cudaMemcpy(y.data(), memory.y + row * padded, padded * sizeof(T), cudaMemcpyDeviceToHost));
        std::vector<double> h(x.begin(), x.end());
        for (int l = 0; l < L; ++l) {
          std::vector<double> s(task.widths[l + 1], 0.0);
          for (size_t n = 0; n < s.size(); ++n) {
            for (size_t k = 0; k < h.size(); ++k) s[n] += h[k] * (double)(float)weights[begins[l] + n * h.size() + k];
            if (l < L - 1) s[n] = activate(task.act, s[n]);
          }
          h = s;
        }
        for (int n = 0; n < out; ++n) err += std::pow((double)(float)y[n] - h[n], 2), ref += h[n] * h[n];
      }
      c.error = std::sqrt(err / ref);
      for (int g = 0; g < std::max(1, (sets + LAUNCHES - 1) / LAUNCHES); ++g) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
        for (int i = 0; i < LAUNCHES; ++i) launch((g * LAUNCHES + i) % sets);
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&exec, graph, 0));
        CHECK(cudaGraphDestroy(graph));
        c.graphs.push_back(exec);
      }
      run(c, 1, stream, a, b);
      c.burst = std::max(1, (int)(8e3 / (std::min(run(c, 2, stream, a, b), run(c, 2, stream, a, b)) * LAUNCHES)));
      contestants.push_back(std::move(c));
    } catch (const std::exception& e) {
      cudaGetLastError();
      std::string message = e.what();
      std::replace(message.begin(), message.end(), '"', '\'');
      std::replace(message.begin(), message.end(), '\n', ' ');
      failures += std::string(failures.empty() ? "" : ", ") + "{\"name\": \"" + name + "\", \"failure\": \"" + message + "\"}";
    }
  }
  const int count = (int)contestants.size();
  for (int round = -1; round < 9; ++round)
    for (int i = 0; i < count; ++i) {
      Contestant& c = contestants[(round + 1 + (round % 2 ? i : count - i)) % count];
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
      const double micros = run(c, c.burst, stream, a, b);
      if (round >= 0) c.bursts.push_back(micros);
    }
  std::printf("{\"workload\": \"%s\", \"device\": \"%s\", \"sets\": %d, \"peers\": [", task.line.c_str(), prop.name, sets);
  for (int i = 0; i < count; ++i) {
    Contestant& c = contestants[i];
    std::vector<double> chunks;
    const auto start = std::chrono::steady_clock::now();
    for (double s = 0; s < 1.5; s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()) {
      const double micros = run(c, 4 * c.burst, stream, a, b);
      if (s > 0.9) chunks.push_back(micros);
    }
    std::printf("%s{\"name\": \"%s\", \"timeUs\": %.3f, \"sustainedUs\": %.3f, \"relError\": %.3e, \"verified\": %s}", i ? ", " : "",
                c.name.c_str(), median(c.bursts), chunks.empty() ? median(c.bursts) : median(chunks), c.error, c.error <= TOLERANCE ? "true" : "false");
    for (auto exec : c.graphs) CHECK(cudaGraphExecDestroy(exec));
  }
  std::printf("%s%s]}\n", count && !failures.empty() ? ", " : "", failures.c_str());
  CHECK(cudaEventDestroy(a));
  CHECK(cudaEventDestroy(b));
  CHECK(cudaStreamDestroy(stream));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "mlp_tcnn FILE: a file of tasks, as 'mlp widths=64,64,64 act=relu dtype=f16 rows=1048576'\n");
    return 2;
  }
  std::ifstream file(argv[1]);
  if (!file) {
    std::fprintf(stderr, "mlp_tcnn: %s: no such file\n", argv[1]);
    return 2;
  }
  for (std::string line; std::getline(file, line);) {
    line = line.substr(0, line.find('#'));
    while (!line.empty() && std::isspace((unsigned char)line.back())) line.pop_back();
    std::istringstream words(line);
    std::string word, dtype = "f16", bias = "0";
    if (!(words >> word) || word != "mlp") continue;
    Task task{line, "relu", {}, 0, 1};
    try {
      while (words >> word) {
        const auto equals = word.find('=');
        const std::string key = word.substr(0, equals), value = equals == std::string::npos ? "" : word.substr(equals + 1);
        if (key == "widths") {
          std::istringstream list(value);
          for (std::string w; std::getline(list, w, ',');) task.widths.push_back(std::stoi(w));
        } else if (key == "rows" || key == "M") {
          task.rows = std::stol(value);
        } else if (key == "act") {
          task.act = value;
        } else if (key == "dtype") {
          dtype = value;
        } else if (key == "bias") {
          bias = value;
        } else if (key == "seed") {
          task.seed = std::stoull(value);
        }
      }
      if (dtype != "f16" || !std::is_same<T, __half>::value) throw std::runtime_error("no f16");
      if (bias != "0") throw std::runtime_error("biases");
      if (task.rows % 256) throw std::runtime_error("rows are no multiple of 256");
      measure(task);
    } catch (const std::exception& e) {
      std::string message = e.what();
      std::replace(message.begin(), message.end(), '"', '\'');
      std::replace(message.begin(), message.end(), '\n', ' ');
      std::printf("{\"workload\": \"%s\", \"skipped\": \"%s\", \"peers\": []}\n", line.c_str(), message.c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}
