// Network addresses in options: `host:port`, `[::1]:port`, `:port`.

export type Address = { readonly host: string; readonly port: number };

/** Reads an address; without a host it means loopback. `undefined` for an invalid one. */
export function parseAddress(text: string): Address | undefined {
  const parts = /^(?:\[([^\]]+)\]|([^:]*)):(\d{1,5})$/.exec(text);
  if (parts === null) return undefined;
  const port = Number(parts[3]);
  const host = parts[1] ?? parts[2] ?? '';
  return port > 65_535 ? undefined : { host: host === '' ? '127.0.0.1' : host, port };
}
