/** Analytic models of traffic and time: what a schedule moves, before anything is compiled. */
@NullMarked
package dev.warpwright.perf;

import org.jspecify.annotations.NullMarked;
