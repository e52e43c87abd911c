/** How native functions are called, and how they give results through pointers. */
@NullMarked
package dev.warpwright.runtime.call;

import org.jspecify.annotations.NullMarked;
