/** {@code run} and {@code plan}: models. */
@NullMarked
package dev.warpwright.cli.run;

import org.jspecify.annotations.NullMarked;
