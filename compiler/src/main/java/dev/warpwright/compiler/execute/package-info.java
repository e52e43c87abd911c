/** Runs programs on devices: constants packed and uploaded once, launches repeated. */
@NullMarked
package dev.warpwright.compiler.execute;

import org.jspecify.annotations.NullMarked;
