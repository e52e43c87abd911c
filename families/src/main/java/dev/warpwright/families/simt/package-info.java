/** GEMMs by multiply-adds of single threads, f32 and f64 included. */
package dev.warpwright.families.simt;
