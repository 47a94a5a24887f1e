// Checks which requests an HTTP listener accepts at all, before credentials are checked. A browser
// on the operator's machine can reach loopback from every page it shows, and adds cached
// credentials itself; so requests from pages of other origins, and requests for unknown host names
// (DNS rebinding), are refused. Programs send none of the headers that identify a page.
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';

import { InvalidRequest } from '@tidemark/core';

import { isLoopback } from './bind-address.ts';
import { ClientAddresses } from './client-address.ts';

export type BorderSettings = {
  /** Section of the configuration with these options, for messages. */
  readonly section: string;
  /** The bound address; `undefined` for a socket that browsers cannot reach. */
  readonly boundHost: string | undefined;
  /** Whether it serves clients without credentials. */
  readonly isOpen: boolean;
  /** Other names under which programs of this product reach it. */
  readonly ownNames?: readonly string[] | undefined;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly trustedProxies: readonly string[];
  /**
   * Key with which the web server of this process proves that it may state its client's address.
   */
  readonly pageKey?: string | undefined;
};

/** A refusal in place of the requested answer. */
export type BorderRefusal = { readonly status: 400 | 403 | 415 | 421; readonly message: string };

/** Decides for one listener. */
export class BorderGuard {
  readonly #section: string;
  /** Lower case, without port and brackets. */
  readonly #hosts: ReadonlySet<string>;
  /** Hosts that are served besides these and loopback. */
  readonly #others: 'none' | 'private' | 'all';
  readonly #origins: ReadonlySet<string>;
  readonly #addresses: ClientAddresses;

  /** Throws `InvalidRequest` naming the setting when an origin or an address is invalid. */
  constructor(settings: BorderSettings) {
    const { section, boundHost, ownNames = [], allowedHosts, allowedOrigins } = settings;
    const { trustedProxies, pageKey } = settings;
    const isLocal = boundHost !== undefined && isLoopback(boundHost);
    this.#section = section;
    this.#hosts = new Set([boundHost ?? '', ...ownNames, ...allowedHosts].map(hostName));
    if (boundHost === undefined) this.#others = 'all';
    else if (isLocal || allowedHosts.length > 0) this.#others = 'none';
    else this.#others = settings.isOpen ? 'private' : 'all';
    this.#origins = new Set(allowedOrigins.map((text) => originOf(text, section)));
    this.#addresses = new ClientAddresses(trustedProxies, `${section}.trusted-proxies`, pageKey);
  }

  /** Why a request is not served; `undefined` when it is. */
  refusal(request: IncomingMessage): BorderRefusal | undefined {
    return this.#hostRefusal(request) ?? this.#originRefusal(request);
  }

  /** Address of the client, without port; `unix` for unix sockets. */
  clientAddress(request: IncomingMessage): string {
    return this.#addresses.of(request);
  }

  /** Headers that let a page of an allowed origin read the answer; none for others. */
  corsHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
    const { origin } = headers;
    if (origin === undefined || !this.#origins.has(origin)) return {};
    return { ...CORS_HEADERS, 'Access-Control-Allow-Origin': origin };
  }

  #hostRefusal({ headers, httpVersion, rawHeaders }: IncomingMessage): BorderRefusal | undefined {
    if (isDoubled(rawHeaders, 'host')) {
      return { status: 400, message: 'malformed request: more than one Host header' };
    }
    if (headers.host === undefined && httpVersion === '1.1') {
      return { status: 400, message: 'malformed request: missing Host header' };
    }
    // Old programs send none; browsers always do.
    if (headers.host === undefined || this.#others === 'all') return undefined;
    const name = hostName(headers.host);
    if (isLoopback(name) || this.#hosts.has(name)) return undefined;
    if (this.#others === 'private' && isPrivateName(name)) return undefined;
    return {
      status: 421,
      message: `host ${JSON.stringify(name)} is not served here; if it should be, add it to ${this.#section}.allowed-hosts`,
    };
  }

  #originRefusal({ headers, method }: IncomingMessage): BorderRefusal | undefined {
    const { origin, host } = headers;
    const site = headers['sec-fetch-site'];
    if (origin === undefined && site === undefined) return undefined;
    if (origin !== undefined && this.#origins.has(origin)) return undefined;
    // Pages cannot set this header, and browsers send it to loopback and over TLS. Otherwise the
    // origin is checked.
    const isOwn =
      site === undefined
        ? origin !== undefined && origin.replace(/^https?:\/\//, '') === host
        : site === 'same-origin' || site === 'none';
    if (!isOwn) {
      const page = origin === undefined ? 'pages of other origins' : `pages of ${origin}`;
      return {
        status: 403,
        message: `requests from ${page} are refused; origins that may send them are listed in ${this.#section}.allowed-origins`,
      };
    }
    if (isReading(method) || !hasPlainBody(headers)) return undefined;
    return {
      status: 415,
      message:
        'from a browser a body must have the type application/… (JSON, a form, bytes) or multipart/form-data',
    };
  }
}

/**
 * Whether a page may have caused a request: changes must not come by GET then, which links and
 * images send without the headers that identify an origin. All browsers call themselves Mozilla.
 */
export function isFromBrowser({ headers }: IncomingMessage): boolean {
  return (
    headers.origin !== undefined ||
    headers['sec-fetch-site'] !== undefined ||
    headers['user-agent']?.startsWith('Mozilla/') === true
  );
}

const CORS_HEADERS = {
  'Access-Control-Allow-Methods': 'DELETE, GET, OPTIONS, PATCH, POST, PUT',
  'Access-Control-Allow-Headers':
    'Accept, Accept-Encoding, Authorization, Content-Encoding, Content-Type, X-CSRF-Token, X-HTTP-Method-Override',
  'Access-Control-Expose-Headers':
    'Date, Request-Id, X-Engine-Version, X-Influxdb-Build, X-Influxdb-Error, X-Influxdb-Version, X-Tsdb-Diagnostics, X-Tsdb-Version',
  Vary: 'Origin',
};

function isDoubled(rawHeaders: readonly string[], name: string): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i];
    if (raw?.length === name.length && raw.toLowerCase() === name) count++;
  }
  return count > 1;
}

/**
 * Names that a foreign name server cannot resolve to this machine: addresses, and names of this
 * machine and of private networks.
 */
function isPrivateName(name: string): boolean {
  return (
    isIP(name) !== 0 ||
    !name.includes('.') ||
    name === hostname().toLowerCase() ||
    /\.(?:home\.arpa|internal|lan|local|localhost)$/.test(name)
  );
}

/** `[::1]:8086` to `::1`, `LocalHost.:8086` to `localhost`. */
function hostName(text: string): string {
  const match = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(text.trim());
  // Otherwise it is an address without brackets, as in settings, or an invalid one.
  return (match?.[1] ?? match?.[2] ?? text.trim()).toLowerCase().replace(/\.$/, '');
}

function originOf(text: string, section: string): string {
  if (/^https?:\/\/[^/\s]+$/.test(text)) return text.toLowerCase();
  throw new InvalidRequest(
    `${section}.allowed-origins must be origins, for example https://grafana.example:3000; got ${JSON.stringify(text)}`,
  );
}

function isReading(method: string | undefined): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS';
}

/**
 * Whether there is a body that a page may send anywhere without a preflight request: plain text, or
 * of no type.
 */
function hasPlainBody(headers: IncomingMessage['headers']): boolean {
  const type = headers['content-type'];
  if (type !== undefined) return !/^(?:application\/|multipart\/form-data\b)/i.test(type.trim());
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
