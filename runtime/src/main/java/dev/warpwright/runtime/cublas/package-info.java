/** cuBLAS and cuBLASLt, where they are installed. */
@NullMarked
package dev.warpwright.runtime.cublas;

import org.jspecify.annotations.NullMarked;
