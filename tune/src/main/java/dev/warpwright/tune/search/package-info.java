/**
 * Which candidate to try next: exhaustive, random, and evolutionary search with a cost model that
 * starts from the analytic prediction and learns from what was measured.
 */
@NullMarked
package dev.warpwright.tune.search;

import org.jspecify.annotations.NullMarked;
