/** Loaded from their packages: native code, and rarely used clients of other systems. */
export const EXTERNAL = [
  '@node-rs/bcrypt',
  'kafkajs',
  'lmdb',
  'mqtt',
  'net-snmp',
  'nodemailer',
  'snappy',
];

/**
 * Loaded on first use of their functions, not with the modules that import them: they took 30 of
 * the 270 ms of processor time of a start. A class that extends one of theirs loads it at once.
 */
export const WITH_FIRST_USE = [
  '@node-rs/bcrypt',
  'node:child_process',
  'node:http2',
  'node:https',
  'node:readline',
  'node:tls',
  'snappy',
];
