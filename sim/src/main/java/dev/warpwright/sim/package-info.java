@NullMarked
package dev.warpwright.sim;

import org.jspecify.annotations.NullMarked;
