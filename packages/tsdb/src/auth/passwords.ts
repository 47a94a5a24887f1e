// Passwords: bcrypt in the catalog, and a cache of salted digests of recently verified ones.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

import { compare, hash } from '@node-rs/bcrypt';

import { LIMITS } from '../limits.ts';

const BCRYPT_COST_MIN = 4;

// Salt and hash of an unknown password.
const UNKNOWN = 'CwTycUXWue0Thq9StjUM0uJ8.ZrVVYz5f4rP0b1sZkqJv1n4lTLxC';

/** `cost` is `meta.password-cost`. */
export function hashPassword(password: string, cost: number): Promise<string> {
  return hash(password, Math.max(BCRYPT_COST_MIN, cost));
}

/** Comparing with it takes as long as with a hash of that cost, and finds nothing equal. */
function unknownUserHash(cost: number): string {
  return `$2b$${String(Math.max(BCRYPT_COST_MIN, cost)).padStart(2, '0')}$${UNKNOWN}`;
}

type Login = { readonly passwordHash: string; readonly salt: Buffer; readonly digest: Buffer };

/** Checks passwords; a repeated right one costs microseconds instead of a tenth of a second. */
export class PasswordChecker {
  readonly #logins = new Map<string, Login>();
  readonly #compare: (password: string, passwordHash: string) => Promise<boolean>;

  readonly #unknownUserHash: string;

  /** `cost` is that of new passwords. `compareHash` is the slow part; tests count its calls. */
  constructor(
    cost: number,
    compareHash?: (password: string, passwordHash: string) => Promise<boolean>,
  ) {
    this.#unknownUserHash = unknownUserHash(cost);
    // Referred to only when it is called, because the native module loads with its first use.
    this.#compare = compareHash ?? ((password, passwordHash) => compare(password, passwordHash));
  }

  /** `passwordHash` is `undefined` for an unknown user: the answer is no, after the same time. */
  async check(
    userName: string,
    password: string,
    passwordHash: string | undefined,
  ): Promise<boolean> {
    if (passwordHash === undefined) {
      await this.#compare(password, this.#unknownUserHash);
      return false;
    }
    const login = this.#logins.get(userName);
    if (login !== undefined && login.passwordHash === passwordHash) {
      if (timingSafeEqual(digestOf(login.salt, password), login.digest)) return true;
    }
    if (!(await this.#compare(password, passwordHash))) return false;
    if (this.#logins.size >= LIMITS.cachedLogins.value) this.#logins.clear();
    const salt = randomBytes(16);
    this.#logins.set(userName, { passwordHash, salt, digest: digestOf(salt, password) });
    return true;
  }
}

function digestOf(salt: Buffer, password: string): Buffer {
  return createHash('sha256').update(salt).update(password).digest();
}
