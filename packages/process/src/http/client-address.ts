// The client address of a request behind proxies. Only trusted proxies are believed: otherwise a
// client could use X-Forwarded-For to choose the address that wrong passwords count against.
import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';

import { InvalidRequest } from '@tidemark/core';

/** The header with which the web server of this process identifies itself. */
export const PAGE_KEY_HEADER = 'x-tidemark-page-key';

export class ClientAddresses {
  readonly #proxies = new BlockList();
  readonly #pageKey: Buffer | undefined;

  /**
   * `trustedProxies` are addresses and networks (`10.0.0.0/8`); `setting` names them in the
   * `InvalidRequest` for an invalid one. Only the page's server knows `pageKey`.
   */
  constructor(trustedProxies: readonly string[], setting: string, pageKey?: string) {
    for (const text of trustedProxies) addProxy(this.#proxies, text, setting);
    this.#pageKey = pageKey === undefined ? undefined : Buffer.from(pageKey);
  }

  /** Without port; `unix` for unix sockets. */
  of({ socket, headers }: IncomingMessage): string {
    let address = plainAddress(socket.remoteAddress);
    const forwarded = headers['x-forwarded-for'];
    if (forwarded === undefined) return address;
    // Each proxy appends to the header; the last untrusted address that a trusted proxy appended is
    // the client.
    const hops = [forwarded].flat().join(',').split(',');
    let isTrusted = this.#isPage(headers[PAGE_KEY_HEADER]) || this.#isProxy(address);
    while (isTrusted) {
      const hop = plainAddress(hops.pop()?.trim());
      if (isIP(hop) === 0) break;
      address = hop;
      isTrusted = this.#isProxy(address);
    }
    return address;
  }

  #isPage(key: string | string[] | undefined): boolean {
    if (this.#pageKey === undefined || typeof key !== 'string') return false;
    const given = Buffer.from(key);
    return given.length === this.#pageKey.length && timingSafeEqual(given, this.#pageKey);
  }

  #isProxy(address: string): boolean {
    const version = isIP(address);
    return version !== 0 && this.#proxies.check(address, version === 4 ? 'ipv4' : 'ipv6');
  }
}

function addProxy(proxies: BlockList, text: string, setting: string): void {
  const [address = '', prefix, more] = text.split('/');
  const version = isIP(address);
  const bitsMax = version === 4 ? 32 : 128;
  const bits = prefix === undefined ? bitsMax : Number(prefix);
  const isBits = /^\d{1,3}$/.test(prefix ?? '0') && bits <= bitsMax;
  if (version === 0 || more !== undefined || !isBits) {
    throw new InvalidRequest(
      `${setting} must be addresses or networks, for example 10.0.0.7 or 10.0.0.0/8; got ${JSON.stringify(text)}`,
    );
  }
  proxies.addSubnet(address, bits, version === 4 ? 'ipv4' : 'ipv6');
}

/** An IPv4 address on an IPv6 socket is written in IPv4 form. */
function plainAddress(address: string | undefined): string {
  if (address === undefined) return 'unix';
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address;
}
