package dev.warpwright.space.record;

/**
 * Where and with what something was measured. A record counts as measured only where all of it
 * agrees; elsewhere it is a suggestion.
 *
 * @param target what was compiled for: {@code sm_90a}
 * @param device the device's name: {@code NVIDIA H200}
 * @param driver version of the driver
 * @param toolkit version of the compiler
 * @param generator version of the kernels' generator
 */
public record Environment(
    String target, String device, String driver, String toolkit, String generator) {}
