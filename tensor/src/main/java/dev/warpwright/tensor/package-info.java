@NullMarked
package dev.warpwright.tensor;

import org.jspecify.annotations.NullMarked;
