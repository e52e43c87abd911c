/** GEMMs by wgmma: TMA copies into rings, producer and consumer warpgroups (sm_90a). */
@NullMarked
package dev.warpwright.families.wgmma;

import org.jspecify.annotations.NullMarked;
