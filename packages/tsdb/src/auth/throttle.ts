// Brake on guessing: after some failures in a row, an address and user wait longer for each further attempt; so does an
// address that fails with many users.
import { LimitExceeded } from '@tidemark/core';
import { LIMITS } from '../limits.ts';

type Failures = { count: number; lastMs: number; blockedUntilMs: number };

export class LoginThrottle {
  /** By address and user: a wrong password that is repeated. */
  readonly #pairs = new Map<string, Failures>();
  /** By address: one password tried with many users. */
  readonly #addresses = new Map<string, Failures>();
  readonly #monotonicMs: () => number;

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

  failed(address: string, userName: string): void {
    const network = networkOf(address);
    const freePair = LIMITS.freeLoginFailures.value;
    const pair = this.#count(this.#pairs, `${network} ${userName}`, freePair);
    // A program that goes on with one wrong password is braked above, and must not lock out its neighbours.
    if (pair.count > freePair) return;
    this.#count(this.#addresses, network, LIMITS.freeAddressFailures.value);
  }

  succeeded(address: string, userName: string): void {
    this.#pairs.delete(`${networkOf(address)} ${userName}`);
  }

  #count(all: Map<string, Failures>, key: string, free: number): Failures {
    const nowMs = this.#monotonicMs();
    const known = all.get(key);
    const isForgotten = known === undefined || nowMs - known.lastMs > LIMITS.loginForgetMs.value;
    const failures = isForgotten ? { count: 0, lastMs: nowMs, blockedUntilMs: 0 } : known;
    failures.count++;
    failures.lastMs = nowMs;
    if (failures.count > free) {
      const blockMs = Math.min(LIMITS.loginBlockMs.value, 1000 * 2 ** (failures.count - free - 1));
      failures.blockedUntilMs = nowMs + blockMs;
    }
    all.delete(key);
    all.set(key, failures);
    if (all.size > LIMITS.trackedLogins.value) {
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
