/** Programs for several devices: made of pieces that the compiler of one device makes, and run. */
package dev.warpwright.parallel.program;
