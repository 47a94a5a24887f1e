// Encrypts values of the metadata file, because definitions hold passwords and tokens: AES-256-GCM
// with a key from another file or the environment. Table and key of a value are authenticated too,
// so a value cannot be moved to another place. Format: docs/formats/engine.md.
import { PRIVATE_FILE } from '@tidemark/process';
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Corruption, InvalidRequest } from '@tidemark/core';

/**
 * Name of the key's file inside the data directory, if the configuration does not set another one.
 */
export const KEY_FILE = 'engine.key';

const PREFIX = 'enc1:';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Minimum length of a text from which a key is derived; generated ones are twice as long. */
const TEXT_LENGTH_MIN = 32;

export class StoreCipher {
  readonly #key: Buffer;

  constructor(text: string) {
    this.#key = Buffer.from(hkdfSync('sha256', text, '', 'tidemark engine metadata', KEY_BYTES));
  }

  /** For a process that checks stored values. */
  get hex(): string {
    return this.#key.toString('hex');
  }

  /** Identifies this key without revealing anything about it. */
  check(subject: string): string {
    return createHmac('sha256', this.#key).update(subject).digest('hex');
  }

  /** A JSON text that encrypts `text` for an entry. */
  seal(entry: string, text: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonce).setAAD(Buffer.from(entry));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()]);
    return `"${PREFIX}${Buffer.concat([sealed, cipher.getAuthTag()]).toString('base64')}"`;
  }

  /**
   * The decrypted text. Throws `Corruption` when it was changed, or was written for another entry
   * or with another key.
   */
  open(entry: string, sealed: string): string {
    const bytes = Buffer.from(sealed.slice(1 + PREFIX.length, -1), 'base64');
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv('aes-256-gcm', this.#key, nonce)
        .setAAD(Buffer.from(entry))
        .setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
      return text + decipher.final('utf8');
    } catch {
      // The library's message adds nothing.
      const message = `value cannot be decrypted. entry=\`${entry}\``;
      throw new Corruption(message, { file: 'engine.mdb', offset: 0 });
    }
  }
}

/** Whether `seal` made a stored text. */
export function isSealed(text: string): boolean {
  return text.startsWith(`"${PREFIX}`);
}

/** Where the key of a store is. */
export type KeyLocation = {
  readonly directory: string;
  /** `secrets-key` of the configuration. */
  readonly setting: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/**
 * The key of a store: the text of a file or of `env:NAME`. Without a setting the file is in the
 * data directory, and is created when the store is new, or has no key yet. Throws `InvalidRequest`
 * with what to do.
 */
export function readKey(
  options: KeyLocation & {
    /** The store was written with a key, so a new one could not read it. */
    readonly isNeeded: boolean;
  },
): StoreCipher {
  const existing = existingKey(options);
  if (existing !== undefined) return existing;
  const file = keyFile(options);
  if (options.isNeeded) {
    throw new InvalidRequest(
      `the key of the stored secrets is missing: put the file that engine.mdb was written with to ${file}, or name another with secrets-key`,
    );
  }
  const text = randomBytes(KEY_BYTES).toString('hex');
  writeFileSync(file, `${text}\n`, { mode: PRIVATE_FILE, flag: 'wx', flush: true });
  return new StoreCipher(text);
}

/** As `readKey`, for an existing key. */
export function existingKey(location: KeyLocation): StoreCipher | undefined {
  const { setting, environment } = location;
  if (setting.startsWith('env:')) {
    const name = setting.slice('env:'.length);
    return fromText(environment[name] ?? '', `the environment variable ${name} (secrets-key)`);
  }
  const file = keyFile(location);
  return existsSync(file) ? fromText(readFileSync(file, 'utf8').trim(), file) : undefined;
}

function keyFile({ directory, setting }: KeyLocation): string {
  return setting === '' ? join(directory, KEY_FILE) : setting;
}

function fromText(text: string, source: string): StoreCipher {
  if (text.length >= TEXT_LENGTH_MIN) return new StoreCipher(text);
  throw new InvalidRequest(
    `the key of the stored secrets has to have at least ${TEXT_LENGTH_MIN} characters, for example those of \`openssl rand -hex 32\`. source=\`${source}\``,
  );
}
