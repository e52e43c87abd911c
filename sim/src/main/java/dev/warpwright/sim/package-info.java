package dev.warpwright.sim;
