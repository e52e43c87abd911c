package dev.warpwright.lower.host;

import dev.warpwright.target.HostTarget;

/**
 * What lowering uses of a CPU.
 *
 * @param lanes of an f32 vector: 4, 8 or 16, or 1 without vectors
 * @param registers vector registers
 * @param cores threads that run at the same time
 */
record VectorMachine(int lanes, int registers, int cores) {
  static VectorMachine of(HostTarget target) {
    if (!target.hasVectors()) {
      return new VectorMachine(1, 16, target.cores());
    }
    int bits = Math.clamp(target.vectorBits(), 128, 512);
    return new VectorMachine(bits / 32, bits == 512 ? 32 : 16, target.cores());
  }
}
