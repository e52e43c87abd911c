@NullMarked
package dev.warpwright.cost;

import org.jspecify.annotations.NullMarked;
