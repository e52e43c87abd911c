/** What kernels get when they are put together to a program: launches that overlap. */
@NullMarked
package dev.warpwright.families.launch;

import org.jspecify.annotations.NullMarked;
