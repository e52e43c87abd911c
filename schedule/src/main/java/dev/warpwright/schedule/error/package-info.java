/** What a schedule that cannot be applied says, and where it points. */
@NullMarked
package dev.warpwright.schedule.error;

import org.jspecify.annotations.NullMarked;
