/** What kernels get when they are put together to a program: launches that overlap. */
package dev.warpwright.lower.launch;
