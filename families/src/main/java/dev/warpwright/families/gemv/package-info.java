/** GEMMs of few rows, whose weights are streamed once. */
@NullMarked
package dev.warpwright.families.gemv;

import org.jspecify.annotations.NullMarked;
