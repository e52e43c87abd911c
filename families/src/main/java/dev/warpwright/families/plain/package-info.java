/** The GEMM that always works: one thread an element, for what no other family takes. */
@NullMarked
package dev.warpwright.families.plain;

import org.jspecify.annotations.NullMarked;
