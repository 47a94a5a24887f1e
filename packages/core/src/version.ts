// Versions that clients see in headers.

/**
 * Version of Tidemark, `<major>.<minor>.<patch>`; sent as `X-Tsdb-Version` and `X-Engine-Version`.
 */
export const TIDEMARK_VERSION = '0.1.0';

/**
 * Version that clients of the older API expect in `X-Influxdb-Version`; they switch features by it.
 */
export const COMPAT_VERSION = '1.8.10';
