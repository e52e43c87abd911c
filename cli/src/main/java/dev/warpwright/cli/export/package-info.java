/** {@code export}: kernels, products and models as CUDA C++ that stands alone. */
package dev.warpwright.cli.export;
