@NullMarked
package dev.warpwright.ir;

import org.jspecify.annotations.NullMarked;
