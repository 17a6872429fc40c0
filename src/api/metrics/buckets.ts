// Bounds of histograms that several families share.

export const LATENCY_BUCKETS_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Bytes of bodies and messages. */
export const SIZE_BUCKETS = [0, 128, 1024, 8192, 65_536, 1 << 20, 8 << 20, 64 << 20, 1024 ** 3];
