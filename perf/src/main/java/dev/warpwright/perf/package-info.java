/** Analytic models of traffic and time: what a schedule moves, before anything is compiled. */
package dev.warpwright.perf;
