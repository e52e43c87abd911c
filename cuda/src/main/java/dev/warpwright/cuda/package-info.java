package dev.warpwright.cuda;
