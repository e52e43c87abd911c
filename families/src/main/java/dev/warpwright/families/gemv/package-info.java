/** GEMMs of few rows, whose weights are streamed once. */
package dev.warpwright.families.gemv;
