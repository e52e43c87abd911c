/** What every module may use and that has no idea of kernels: errors for users. */
@NullMarked
package dev.warpwright.base;

import org.jspecify.annotations.NullMarked;
