/** The spaces of GEMM schedules that tuning searches, and the keys of their records. */
package dev.warpwright.families.space;
