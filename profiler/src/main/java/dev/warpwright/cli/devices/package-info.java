/** {@code devices}, and the targets and devices that other commands name. */
@NullMarked
package dev.warpwright.cli.devices;

import org.jspecify.annotations.NullMarked;
