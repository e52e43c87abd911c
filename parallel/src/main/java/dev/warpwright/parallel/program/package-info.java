/** Programs for several devices: made of pieces that the compiler of one device makes, and run. */
@NullMarked
package dev.warpwright.parallel.program;

import org.jspecify.annotations.NullMarked;
