/**
 * The machine that Warpwright itself runs on: where its cache folder is, and where NVIDIA's
 * libraries and tools are.
 *
 * <p>Nothing here loads a library; it only finds files, so that a missing one is an empty answer.
 */
package dev.warpwright.target.host;
