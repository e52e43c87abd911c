@NullMarked
package dev.warpwright.schedule;

import org.jspecify.annotations.NullMarked;
