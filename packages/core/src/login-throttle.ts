// Brake on guessing: after some failures in a row, an address and user wait longer for each further attempt; so does an
// address that fails with many users.
import { LimitExceeded } from './errors.ts';
import type { Limit } from './limits.ts';

export const LOGIN_LIMITS = {
  freeLoginFailures: {
    value: 10,
    unit: 'count',
    reason: 'people mistype; guessing takes more attempts',
  },
  freeAddressFailures: {
    value: 100,
    unit: 'count',
    reason:
      'a company behind one address mistypes too; trying a password with many users takes more',
  },
  loginForgetMs: {
    value: 600_000,
    unit: 'ms',
    reason: 'failures are forgotten when none follows for this time',
  },
  loginBlockMs: {
    value: 60_000,
    unit: 'ms',
    reason: 'longest time for which further attempts of an address and user are refused',
  },
  trackedLogins: {
    value: 10_000,
    unit: 'count',
    reason: 'pairs of address and user whose failures are remembered; the oldest is forgotten',
  },
} as const satisfies Readonly<Record<string, Limit>>;

type Failures = { count: number; lastMs: number; blockedUntilMs: number };

/** In memory only, bounded; the limits are `LOGIN_LIMITS`. */
export class LoginThrottle {
  /** By address and user: a wrong password that is repeated. */
  readonly #pairs = new Map<string, Failures>();
  /** By address: one password tried with many users. */
  readonly #addresses = new Map<string, Failures>();
  readonly #monotonicMs: () => number;

  /** Milliseconds of a clock that never goes back. */
  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Throws while attempts of that address, or of that user from there, are refused. */
  check(address: string, userName: string): void {
    const network = networkOf(address);
    const untilMs = Math.max(
      this.#pairs.get(`${network} ${userName}`)?.blockedUntilMs ?? 0,
      this.#addresses.get(network)?.blockedUntilMs ?? 0,
    );
    if (untilMs <= this.#monotonicMs()) return;
    throw new LimitExceeded('too many failed logins; try again later', 'http.auth-enabled');
  }

  /** Counts an attempt with wrong credentials. */
  failed(address: string, userName: string): void {
    const network = networkOf(address);
    const freePair = LOGIN_LIMITS.freeLoginFailures.value;
    const pair = this.#count(this.#pairs, `${network} ${userName}`, freePair);
    // A program that goes on with one wrong password is braked above, and must not lock out its neighbours.
    if (pair.count > freePair) return;
    this.#count(this.#addresses, network, LOGIN_LIMITS.freeAddressFailures.value);
  }

  /** Forgets the failures of that user from there. */
  succeeded(address: string, userName: string): void {
    this.#pairs.delete(`${networkOf(address)} ${userName}`);
  }

  #count(all: Map<string, Failures>, key: string, free: number): Failures {
    const nowMs = this.#monotonicMs();
    const known = all.get(key);
    const isForgotten =
      known === undefined || nowMs - known.lastMs > LOGIN_LIMITS.loginForgetMs.value;
    const failures = isForgotten ? { count: 0, lastMs: nowMs, blockedUntilMs: 0 } : known;
    failures.count++;
    failures.lastMs = nowMs;
    if (failures.count > free) {
      const blockMs = Math.min(
        LOGIN_LIMITS.loginBlockMs.value,
        1000 * 2 ** (failures.count - free - 1),
      );
      failures.blockedUntilMs = nowMs + blockMs;
    }
    all.delete(key);
    all.set(key, failures);
    if (all.size > LOGIN_LIMITS.trackedLogins.value) {
      const oldest = all.keys().next().value;
      if (oldest !== undefined) all.delete(oldest);
    }
    return failures;
  }
}

/** One customer of IPv6 has a whole /64; of IPv4, the address. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0;
  const all = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${all.slice(0, 4).join(':')}::/64`;
}
