/** {@code export}: kernels, products and models as CUDA C++ that stands alone. */
@NullMarked
package dev.warpwright.cli.export;

import org.jspecify.annotations.NullMarked;
