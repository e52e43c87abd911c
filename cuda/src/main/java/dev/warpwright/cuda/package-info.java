@NullMarked
package dev.warpwright.cuda;

import org.jspecify.annotations.NullMarked;
