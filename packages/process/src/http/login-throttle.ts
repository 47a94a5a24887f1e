// Throttles password guessing: after some failures in a row, an address and user wait longer for
// each further attempt; so does an address that fails with many users. An attempt counts from its
// start, so parallel attempts do not bypass the limit.
import { LimitExceeded } from '@tidemark/core';
import type { Limit } from '@tidemark/core';

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
  loginTrustMs: {
    value: 86_400_000,
    unit: 'ms',
    reason: 'for so long a user who was right does not wait for what others fail with there',
  },
  trackedLogins: {
    value: 10_000,
    unit: 'count',
    reason: 'pairs of address and user that are remembered; the oldest is forgotten',
  },
} as const satisfies Readonly<Record<string, Limit>>;

/** The credentials of an attempt, and its address. */
export type Login = {
  readonly address: string;
  readonly userName: string;
  readonly password: string;
};

export type LoginThrottleOptions = {
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Whether an error of a check means a wrong password; other errors do not count. */
  readonly isWrong: (error: unknown) => boolean;
};

/** `pending` attempts have no result yet. */
type Failures = { count: number; pending: number; lastMs: number; blockedUntilMs: number };

/** In memory only, bounded; the limits are `LOGIN_LIMITS`. */
export class LoginThrottle {
  /** By address and user, for repeated wrong passwords. */
  readonly #pairs = new Map<string, Failures>();
  /** By address, for one password tried with many users. */
  readonly #addresses = new Map<string, Failures>();
  /** By address and user, the time of the last right password. */
  readonly #rightMs = new Map<string, number>();
  /** A repeated attempt without a result yet does not count again. */
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #options: LoginThrottleOptions;

  constructor(options: LoginThrottleOptions) {
    this.#options = options;
  }

  /**
   * Resolves with the result of `check`, which rejects when the password is wrong. Rejects with
   * `LimitExceeded`, without a check, while attempts of that address, or of that user from there,
   * are refused.
   */
  attempt<T>(login: Login, check: () => Promise<T>): Promise<T> {
    const network = networkOf(login.address);
    const pair = `${network} ${login.userName}`;
    const key = JSON.stringify([network, login.userName, login.password]);
    const running = this.#running.get(key);
    if (running !== undefined) return running as Promise<T>;
    const attempt = this.#attempt({ network, pair }, check).finally(() =>
      this.#running.delete(key),
    );
    this.#running.set(key, attempt);
    return attempt;
  }

  async #attempt<T>(
    { network, pair }: { readonly network: string; readonly pair: string },
    check: () => Promise<T>,
  ): Promise<T> {
    const nowMs = this.#options.monotonicMs();
    const rightMs = this.#rightMs.get(pair);
    const isTrusted = rightMs !== undefined && nowMs - rightMs <= LOGIN_LIMITS.loginTrustMs.value;
    const ofPair = this.#failures(this.#pairs, pair);
    const ofAddress = this.#failures(this.#addresses, network);
    const freeOfPair = LOGIN_LIMITS.freeLoginFailures.value;
    const freeOfAddress = LOGIN_LIMITS.freeAddressFailures.value;
    this.#check(ofPair, freeOfPair);
    if (!isTrusted) this.#check(ofAddress, freeOfAddress);
    // Only now: refused attempts must not displace other entries.
    remember(this.#pairs, pair, ofPair);
    remember(this.#addresses, network, ofAddress);
    ofPair.pending++;
    ofAddress.pending++;
    try {
      const result = await check();
      ofPair.count = 0;
      ofPair.blockedUntilMs = 0;
      remember(this.#rightMs, pair, this.#options.monotonicMs());
      return result;
    } catch (error) {
      if (this.#options.isWrong(error)) {
        this.#count(ofPair, freeOfPair);
        // A program that repeats one wrong password is throttled above, and must not lock out its
        // neighbours.
        if (ofPair.count <= freeOfPair) this.#count(ofAddress, freeOfAddress);
      }
      throw error;
    } finally {
      ofPair.pending--;
      ofAddress.pending--;
      forgetUnused(this.#pairs, pair, ofPair);
      forgetUnused(this.#addresses, network, ofAddress);
    }
  }

  /** Throws while blocked, and when as many attempts are pending as may fail before a block. */
  #check({ count, pending, blockedUntilMs }: Failures, free: number): void {
    const isBlocked = blockedUntilMs > this.#options.monotonicMs();
    if (!isBlocked && pending < Math.max(1, free + 1 - count)) return;
    throw new LimitExceeded('too many failed logins; try again later', 'http.auth-enabled');
  }

  #failures(all: Map<string, Failures>, key: string): Failures {
    const nowMs = this.#options.monotonicMs();
    const known = all.get(key);
    if (known === undefined) return { count: 0, pending: 0, lastMs: nowMs, blockedUntilMs: 0 };
    if (nowMs - known.lastMs > LOGIN_LIMITS.loginForgetMs.value) known.count = 0;
    return known;
  }

  #count(failures: Failures, free: number): void {
    const nowMs = this.#options.monotonicMs();
    failures.count++;
    failures.lastMs = nowMs;
    if (failures.count <= free) return;
    const blockMs = 1000 * 2 ** (failures.count - free - 1);
    failures.blockedUntilMs = nowMs + Math.min(LOGIN_LIMITS.loginBlockMs.value, blockMs);
  }
}

/** Adds it as the newest entry; removes the oldest if there are too many. */
function remember<V>(all: Map<string, V>, key: string, value: V): void {
  all.delete(key);
  all.set(key, value);
  if (all.size <= LOGIN_LIMITS.trackedLogins.value) return;
  const oldest = all.keys().next().value;
  if (oldest !== undefined) all.delete(oldest);
}

function forgetUnused(all: Map<string, Failures>, key: string, failures: Failures): void {
  if (failures.count + failures.pending === 0 && all.get(key) === failures) all.delete(key);
}

/** An IPv6 customer has a whole /64; an IPv4 customer has one address. */
function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0;
  const all = [...left, ...Array.from({ length: zeros }, () => '0'), ...right];
  return `${all.slice(0, 4).join(':')}::/64`;
}
