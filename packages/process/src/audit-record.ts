// The audit record on disk, who changed what and who was refused: lines of JSON, bounded in size
// (docs/formats/audit.md).
import { mkdirSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import { InvalidRequest, messageOf } from '@tidemark/core';
import { PRIVATE_DIRECTORY, PRIVATE_FILE } from './private-files.ts';

/** An event: what, by whom and from where. Without passwords. */
export type AuditEntry = {
  /** RFC 3339. */
  readonly time: string;
  readonly event: string;
  /** Empty without authentication. */
  readonly user: string;
  /** Address of the client, without port. */
  readonly address: string;
  readonly [detail: string]: unknown;
};

export type AuditQuestion = {
  /** Only entries before this time. */
  readonly before?: string | undefined;
  readonly user?: string | undefined;
  /** Only entries with this text anywhere, in any case. */
  readonly text?: string | undefined;
  readonly limit: number;
};

export type AuditRecordOptions = {
  /** Created when it does not exist. */
  readonly directory: string;
  /** Size of all files together. */
  readonly maxBytes: number;
  /** Called when entries could not be stored. */
  readonly onError: (error: unknown) => void;
};

/** Maximum number of entries that wait for the disk; further ones are only in the service log. */
const WAITING_MAX = 10_000;

/** A statement may be megabytes long; its user and its beginning are enough to read. */
const TEXT_CHARACTERS_MAX = 4000;

/** Refusals have their own part: many of them must not displace successful changes. */
const REFUSED_SHARE = 0.25;

export class AuditRecord {
  readonly #changes: Lane;
  readonly #refusals: Lane;

  constructor(options: AuditRecordOptions) {
    const { directory, maxBytes, onError } = options;
    mkdirSync(directory, { recursive: true, mode: PRIVATE_DIRECTORY });
    const lane = (name: string, share: number): Lane =>
      new Lane({ path: join(directory, name), maxBytes: maxBytes * share, onError });
    this.#changes = lane('changes', 1 - REFUSED_SHARE);
    this.#refusals = lane('refusals', REFUSED_SHARE);
  }

  /** Adds a successful change. It is on disk when `written` resolves. */
  add(entry: AuditEntry): void {
    this.#changes.add(entry);
  }

  /** Adds a refusal. */
  addRefusal(entry: AuditEntry): void {
    this.#refusals.add(entry);
  }

  /** Resolves when everything added before is on disk, or was reported as lost. */
  async written(): Promise<void> {
    await Promise.all([this.#changes.written(), this.#refusals.written()]);
  }

  /** The newest first. */
  async read(question: AuditQuestion): Promise<readonly AuditEntry[]> {
    const lanes = await Promise.all([this.#changes.read(question), this.#refusals.read(question)]);
    return lanes
      .flat()
      .sort((a, b) => (a.time < b.time ? 1 : a.time > b.time ? -1 : 0))
      .slice(0, question.limit);
  }

  async close(): Promise<void> {
    await Promise.all([this.#changes.close(), this.#refusals.close()]);
  }
}

type LaneOptions = {
  /** Path of its files, without extension. */
  readonly path: string;
  readonly maxBytes: number;
  readonly onError: (error: unknown) => void;
};

/** Entries in two files; the older one is replaced when the newer has half of the size. */
class Lane {
  readonly #options: LaneOptions;
  readonly #current: string;
  readonly #older: string;
  #file: FileHandle | undefined;
  #sizeBytes = 0;
  #waiting: string[] = [];
  #lostCount = 0;
  #writing: Promise<void> = Promise.resolve();
  #isScheduled = false;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#current = `${options.path}.jsonl`;
    this.#older = `${options.path}.1.jsonl`;
  }

  add(entry: AuditEntry): void {
    if (this.#waiting.length >= WAITING_MAX) {
      this.#lostCount++;
      return;
    }
    this.#waiting.push(`${JSON.stringify(entry, (_, value: unknown) => shortened(value))}\n`);
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#writing = this.#writing.then(() => this.#write());
  }

  written(): Promise<void> {
    return this.#writing;
  }

  async read({ before, user, text, limit }: AuditQuestion): Promise<AuditEntry[]> {
    await this.written();
    const found: AuditEntry[] = [];
    const wanted = text?.toLowerCase();
    for (const path of [this.#current, this.#older]) {
      for (const line of (await readLines(path)).reverse()) {
        if (found.length >= limit) return found;
        if (wanted !== undefined && !line.toLowerCase().includes(wanted)) continue;
        const entry = parseEntry(line);
        if (entry === undefined || (before !== undefined && entry.time >= before)) continue;
        if (user === undefined || entry.user === user) found.push(entry);
      }
    }
    return found;
  }

  async close(): Promise<void> {
    await this.written();
    await this.#file?.close();
    this.#file = undefined;
  }

  /** Writes and syncs waiting entries together. Never rejects. */
  async #write(): Promise<void> {
    this.#isScheduled = false;
    const bytes = Buffer.from(this.#waiting.splice(0).join(''));
    const lost = this.#lostCount;
    this.#lostCount = 0;
    try {
      const file = await this.#opened(bytes.length);
      await file.appendFile(bytes);
      await file.datasync();
      this.#sizeBytes += bytes.length;
      if (lost > 0) throw new Error(`the disk was too slow for ${lost} entries`);
    } catch (error) {
      this.#options.onError(error);
    }
  }

  async #opened(addedBytes: number): Promise<FileHandle> {
    if (this.#file !== undefined) {
      const isFull = this.#sizeBytes + addedBytes > this.#options.maxBytes / 2;
      if (!isFull) return this.#file;
      await this.#file.close();
      this.#file = undefined;
      await rename(this.#current, this.#older);
    }
    const file = await open(this.#current, 'a', PRIVATE_FILE);
    this.#file = file;
    this.#sizeBytes = (await file.stat()).size;
    // A line that a crash has cut must not damage the next one.
    if (this.#sizeBytes > 0) await file.appendFile('\n');
    return file;
  }
}

async function readLines(path: string): Promise<string[]> {
  try {
    return (await readFile(path, 'utf8')).split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function shortened(value: unknown): unknown {
  if (typeof value !== 'string' || value.length <= TEXT_CHARACTERS_MAX) return value;
  return `${value.slice(0, TEXT_CHARACTERS_MAX)}…`;
}

/** A line that a crash has cut, or of another format, is no entry. */
function parseEntry(line: string): AuditEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? (value as AuditEntry) : undefined;
  } catch {
    // Reported above.
    return undefined;
  }
}

/** Maximum number of entries in one answer. */
const LIMIT_MAX = 1000;
const LIMIT_DEFAULT = 100;

/** A query from the parameters of a URL. Throws `InvalidRequest`. */
export function parseAuditQuestion(parameter: (name: string) => string): AuditQuestion {
  const text = parameter('limit');
  if (!/^\d*$/.test(text)) throw new InvalidRequest('limit must be a number of entries');
  return {
    before: parameter('before') || undefined,
    user: parameter('user') || undefined,
    text: parameter('text') || undefined,
    limit: Math.min(text === '' ? LIMIT_DEFAULT : Number(text), LIMIT_MAX),
  };
}

/** Opens a record if it has a size; a directory that cannot be created is logged, not thrown. */
export function openAuditRecord(options: AuditRecordOptions): AuditRecord | undefined {
  if (options.maxBytes === 0) return undefined;
  try {
    return new AuditRecord(options);
  } catch (error) {
    options.onError(new Error(`the audit record cannot be kept: ${messageOf(error)}`));
    return undefined;
  }
}
