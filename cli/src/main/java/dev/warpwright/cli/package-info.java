package dev.warpwright.cli;
