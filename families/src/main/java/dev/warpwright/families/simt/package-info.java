/** GEMMs by multiply-adds of single threads, f32 and f64 included. */
@NullMarked
package dev.warpwright.families.simt;

import org.jspecify.annotations.NullMarked;
