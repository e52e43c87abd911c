# Warpwright on a machine with an NVIDIA GPU: builds the distribution, then puts it beside CUDA's compiler.
#   docker build -t warpwright .
#   docker run --rm --gpus all -v "$PWD:/work" -w /work warpwright run model.onnx
FROM eclipse-temurin:25-jdk AS build
WORKDIR /src
COPY . .
RUN bin/dist && mkdir /app && tar -C /app --strip-components=1 -xzf dist/warpwright-*-linux-x64.tar.gz

# nvcc and NVRTC are needed to compile kernels; another release of CUDA 12.4 or newer will do.
FROM nvidia/cuda:13.0.1-devel-ubuntu24.04
COPY --from=build /app /opt/warpwright
RUN ln -s /opt/warpwright/bin/warpwright /usr/local/bin/warpwright
ENTRYPOINT ["warpwright"]
CMD ["--help"]
