// Limits of settings and of requests made with them.
/** Bytes of a receiver's answer that are read for an error text. */
export const RESPONSE_BYTES_MAX = 64 * 1024;
