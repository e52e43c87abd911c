@NullMarked
package dev.warpwright.jvm;

import org.jspecify.annotations.NullMarked;
