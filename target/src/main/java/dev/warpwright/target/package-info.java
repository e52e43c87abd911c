@NullMarked
package dev.warpwright.target;

import org.jspecify.annotations.NullMarked;
