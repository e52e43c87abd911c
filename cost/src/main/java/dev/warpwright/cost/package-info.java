package dev.warpwright.cost;
