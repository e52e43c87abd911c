/** The spaces of GEMM schedules that tuning searches, and the keys of their records. */
@NullMarked
package dev.warpwright.families.space;

import org.jspecify.annotations.NullMarked;
