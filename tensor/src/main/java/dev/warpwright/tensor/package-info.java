package dev.warpwright.tensor;
