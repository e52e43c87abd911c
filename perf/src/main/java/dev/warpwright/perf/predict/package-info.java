/** What is expected of a kernel before anything runs. */
@NullMarked
package dev.warpwright.perf.predict;

import org.jspecify.annotations.NullMarked;
