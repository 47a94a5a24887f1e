// What tests of other things than access give an engine: everything that its configuration can
// list.

/** Section `[alert]` of an engine whose definitions may reach the whole machine. */
export const EVERYTHING_ALLOWED = {
  'allowed-programs': ['*', '/**'],
  'allowed-files': ['/**'],
  'allowed-secrets': ['env:*', 'file:/**'],
};
