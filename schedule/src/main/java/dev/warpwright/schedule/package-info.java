package dev.warpwright.schedule;
