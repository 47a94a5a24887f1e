/** Loaded from their packages: native code, and clients of other systems that few use. */
export const EXTERNAL = [
  '@node-rs/bcrypt',
  'kafkajs',
  'lmdb',
  'mqtt',
  'net-snmp',
  'nodemailer',
  'snappy',
];
