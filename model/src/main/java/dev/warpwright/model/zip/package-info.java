/** ZIP archives as PyTorch writes them. */
@NullMarked
package dev.warpwright.model.zip;

import org.jspecify.annotations.NullMarked;
