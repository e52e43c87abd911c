@NullMarked
package dev.warpwright.cli;

import org.jspecify.annotations.NullMarked;
