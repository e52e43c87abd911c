@NullMarked
package dev.warpwright.compiler;

import org.jspecify.annotations.NullMarked;
