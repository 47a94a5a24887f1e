// All listeners beside HTTP, and what they require of a sender. The protocols have no users:
// missing checks are stated here, in the documentation and, for addresses that others can reach, in
// the log.

/**
 * `none`: the protocol has no credentials; anybody who reaches the port may write into the
 * listener's database. `packet`: each packet is signed or encrypted with a password of the
 * `auth-file` if `security-level` requires it.
 */
export type ListenerRight = 'none' | 'packet';

export type ListenerKind = {
  /** Section of the configuration. */
  readonly section: 'udp' | 'graphite' | 'collectd' | 'opentsdb';
  readonly right: ListenerRight;
  readonly summary: string;
};

export const LISTENER_KINDS: readonly ListenerKind[] = [
  { section: 'udp', right: 'none', summary: 'Line protocol in datagrams' },
  { section: 'graphite', right: 'none', summary: 'Graphite plaintext over TCP or UDP' },
  { section: 'collectd', right: 'packet', summary: 'The binary protocol of collectd' },
  { section: 'opentsdb', right: 'none', summary: 'OpenTSDB, telnet and HTTP' },
];

/** Whether a listener of a kind authenticates senders with the given settings. */
export function checksSenders(
  section: ListenerKind['section'],
  settings: { readonly securityLevel?: string | undefined },
): boolean {
  const kind = LISTENER_KINDS.find((one) => one.section === section);
  return kind?.right === 'packet' && (settings.securityLevel ?? 'none') !== 'none';
}
