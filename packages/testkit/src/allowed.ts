// The permissions of an engine in tests of other things: everything that its configuration can
// list.

/** Section `[alert]` of an engine whose definitions may access the whole machine. */
export const EVERYTHING_ALLOWED = {
  'allowed-programs': ['*', '/**'],
  'allowed-files': ['/**'],
  'allowed-secrets': ['env:*', 'file:/**'],
};
