/** How native functions are called, and how they give results through pointers. */
package dev.warpwright.runtime.call;
