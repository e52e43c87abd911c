/** GEMMs by wgmma: TMA copies into rings, producer and consumer warpgroups (sm_90a). */
package dev.warpwright.families.wgmma;
