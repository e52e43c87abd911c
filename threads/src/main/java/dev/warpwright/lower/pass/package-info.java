/**
 * Passes that serve every target. Each states what holds after it and why it stands where it does.
 */
@NullMarked
package dev.warpwright.lower.pass;

import org.jspecify.annotations.NullMarked;
