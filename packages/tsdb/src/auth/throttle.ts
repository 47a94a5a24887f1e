// Brake on guessing: after some failures in a row, an address and user wait longer for each further attempt.
import { LimitExceeded } from '@tidemark/core';
import { LIMITS } from '../limits.ts';

const FREE_FAILURES = LIMITS.freeLoginFailures.value;

type Failures = { count: number; blockedUntilMs: number };

export class LoginThrottle {
  readonly #failures = new Map<string, Failures>();
  readonly #monotonicMs: () => number;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Throws while attempts of that pair are refused. */
  check(address: string, userName: string): void {
    const failures = this.#failures.get(`${address} ${userName}`);
    if (failures === undefined || failures.blockedUntilMs <= this.#monotonicMs()) return;
    throw new LimitExceeded('too many failed logins; try again later', 'http.auth-enabled');
  }

  failed(address: string, userName: string): void {
    const key = `${address} ${userName}`;
    const failures = this.#failures.get(key) ?? { count: 0, blockedUntilMs: 0 };
    failures.count++;
    if (failures.count > FREE_FAILURES) {
      const blockMs = Math.min(
        LIMITS.loginBlockMs.value,
        1000 * 2 ** (failures.count - FREE_FAILURES - 1),
      );
      failures.blockedUntilMs = this.#monotonicMs() + blockMs;
    }
    this.#failures.delete(key);
    this.#failures.set(key, failures);
    if (this.#failures.size > LIMITS.trackedLogins.value) {
      const oldest = this.#failures.keys().next().value;
      if (oldest !== undefined) this.#failures.delete(oldest);
    }
  }

  succeeded(address: string, userName: string): void {
    this.#failures.delete(`${address} ${userName}`);
  }
}
