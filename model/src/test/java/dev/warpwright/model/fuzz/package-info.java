/**
 * Readers of untrusted bytes as targets of a fuzzer: {@code bench/fuzz.sh} feeds them what a
 * coverage-guided fuzzer makes up, and a test what it has found before.
 */
@NullMarked
package dev.warpwright.model.fuzz;

import org.jspecify.annotations.NullMarked;
