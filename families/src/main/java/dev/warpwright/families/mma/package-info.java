/** GEMMs by mma.sync: operands through rings in shared memory, warps on tiles (sm_75 and later). */
package dev.warpwright.families.mma;
