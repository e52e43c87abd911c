@NullMarked
package dev.warpwright.lower;

import org.jspecify.annotations.NullMarked;
