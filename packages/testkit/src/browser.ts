// Arguments with which tests start the system's Chromium.

/** Without a display, a sandbox or a network of its own, as in a container. */
export const BROWSER_ARGUMENTS: readonly string[] = [
  '--no-sandbox',
  '--process-per-site',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
