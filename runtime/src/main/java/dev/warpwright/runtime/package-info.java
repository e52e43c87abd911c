@NullMarked
package dev.warpwright.runtime;

import org.jspecify.annotations.NullMarked;
