/** cuBLAS and cuBLASLt, where they are installed. */
package dev.warpwright.measure.cublas;
