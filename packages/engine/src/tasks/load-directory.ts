// The load directory: tasks, templates and handlers defined by files. Definitions in files are
// created or updated; those of an earlier pass that no file defines any more are deleted. A broken
// file does not affect the others.
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { InvalidRequest, messageOf, NotFound } from '@tidemark/core';
import { readHandlerSpec } from '@tidemark/alerting';
import type { AlertService } from '@tidemark/alerting';
import { readVars } from './definition.ts';
import { asObject, parseJson } from '../formats/json.ts';
import type { Logger } from '../observability/log-hub.ts';
import type { Metadata } from '../store/metadata.ts';
import type { Table } from '../store/table.ts';
import type { Dbrp } from '../store/records.ts';
import type { TaskInput } from './task-change.ts';
import type { TaskService } from './task-service.ts';
import type { TemplateService } from './template-service.ts';
import { readSplit } from './split.ts';
import { parseYaml } from '../formats/yaml.ts';

type Kind = 'tasks' | 'templates' | 'handlers';

/** The definition of an earlier reading, by `<kind>/<id>`; for handlers `<topic> <id>`. */
type LoadedRecord = {
  readonly kind: Kind;
  readonly id: string;
  readonly topic: string;
  /** SHA-256 of the file; unchanged files are skipped. */
  readonly hash?: string | undefined;
};

export type LoadDirectoryOptions = {
  readonly directory: string;
  readonly metadata: Metadata;
  readonly tasks: TaskService;
  readonly templates: TemplateService;
  readonly alerts: AlertService;
  readonly log: Logger;
  /** Default: those of the machine. */
  readonly files?: FileReader | undefined;
};

/** What is read of a file system. */
export type FileReader = {
  /** Names of the files in a folder. */
  readonly readdir: (folder: string) => Promise<string[]>;
  readonly readFile: (file: string, encoding: 'utf8') => Promise<string>;
  readonly stat: (path: string) => Promise<{ readonly size: number; readonly mtimeMs: number }>;
};

const FILES_MAX = 10_000;

/** Files that cannot be used, each of which was logged; the others are in use. */
class BrokenFiles extends InvalidRequest {}

export class LoadDirectory {
  readonly #options: LoadDirectoryOptions;
  readonly #loaded: Table<LoadedRecord>;
  readonly #files: FileReader;
  readonly #errors = new Map<string, string>();
  /**
   * Fingerprint of the files that were read last; `undefined` before the first reading and when it
   * has to be repeated.
   */
  #signature: string | undefined;
  /** Why the directory as a whole could not be read the last time. */
  #failure = '';
  #isLoading = false;

  constructor(options: LoadDirectoryOptions) {
    this.#options = options;
    this.#loaded = options.metadata.table<LoadedRecord>('load');
    this.#files = options.files ?? { readdir, readFile, stat };
  }

  /** Errors of the files of the last reading, by path. */
  get errors(): ReadonlyMap<string, string> {
    return this.#errors;
  }

  /**
   * Reads the directory again when a file in it has been changed, added or removed. Errors are
   * logged: broken files one by one, those of the directory when the reason changes. Never rejects.
   */
  async loadIfChanged(): Promise<void> {
    if (this.#isLoading) return;
    try {
      if ((await this.#signatureNow()) === this.#signature) return;
      await this.load();
      this.#failure = '';
    } catch (error) {
      if (error instanceof BrokenFiles) return;
      // The next attempt may find it readable again, or the disk with enough space.
      this.#signature = undefined;
      const reason = messageOf(error);
      this.#errors.set(this.#options.directory, reason);
      if (reason !== this.#failure) {
        this.#options.log('error', 'failed to read the load directory', { err: reason });
      }
      this.#failure = reason;
    }
  }

  /** Reads the directory. Rejects with the broken files, after all others have been loaded. */
  async load(): Promise<void> {
    this.#isLoading = true;
    try {
      this.#signature = await this.#signatureNow();
      await this.#loadAll();
    } finally {
      this.#isLoading = false;
    }
  }

  // Names, sizes and times of change of all files.
  async #signatureNow(): Promise<string> {
    const parts: string[] = [];
    for (const kind of ['templates', 'tasks', 'handlers'] as const) {
      for (const file of await this.#filesOf(kind)) {
        const { size, mtimeMs } = await this.#files
          .stat(file)
          .catch(() => ({ size: -1, mtimeMs: 0 }));
        parts.push(`${file} ${size} ${mtimeMs}`);
      }
    }
    return parts.join('\n');
  }

  async #loadAll(): Promise<void> {
    const problems: string[] = [];
    this.#errors.clear();
    await this.#requireFolders();
    const present = new Map<string, LoadedRecord>();
    for (const kind of ['templates', 'tasks', 'handlers'] as const) {
      for (const file of await this.#filesOf(kind)) {
        try {
          const record = await this.#loadFile(kind, file);
          present.set(`${kind}/${record.topic} ${record.id}`, record);
        } catch (error) {
          // Reported together at the end.
          const reason = messageOf(error);
          problems.push(`${file}: ${reason}`);
          this.#errors.set(file, reason);
          this.#options.log('error', 'failed to load file', { file, err: reason });
        }
      }
    }
    // A file that is broken now must not delete its earlier definition.
    if (problems.length === 0) await this.#deleteAbsent(present);
    await this.#loaded.change([...present].map(([id, value]) => ({ id, value })));
    if (problems.length === 0) return;
    throw new BrokenFiles(`failed to load ${problems.length} file(s): ${problems.join('; ')}`);
  }

  /**
   * A missing folder does not mean that its definitions were deleted: the directory may not be
   * mounted, or the present leader of a cluster may have none.
   */
  async #requireFolders(): Promise<void> {
    const kinds = new Set([...this.#loaded.values()].map(({ kind }) => kind));
    for (const folder of [
      this.#options.directory,
      ...[...kinds].map((kind) => this.#folderOf(kind)),
    ])
      if (!(await this.#isThere(folder))) {
        const reason = `${folder} is missing: definitions from its files were not changed or deleted`;
        this.#errors.set(this.#options.directory, reason);
        throw new InvalidRequest(reason);
      }
  }

  async #isThere(path: string): Promise<boolean> {
    try {
      await this.#files.stat(path);
      return true;
    } catch (error) {
      if (isAbsent(error)) return false;
      throw error;
    }
  }

  #folderOf(kind: Kind): string {
    return join(this.#options.directory, kind);
  }

  async #filesOf(kind: Kind): Promise<readonly string[]> {
    const folder = this.#folderOf(kind);
    let names: string[];
    try {
      names = await this.#files.readdir(folder);
    } catch (cause) {
      if (isAbsent(cause)) return [];
      throw cause;
    }
    if (names.length > FILES_MAX)
      throw new InvalidRequest(`more than ${FILES_MAX} files in ${folder}`);
    const known =
      kind === 'handlers' ? ['.json', '.yml', '.yaml'] : ['.tick', '.json', '.yml', '.yaml'];
    return names
      .filter((name) => known.includes(extname(name)))
      .sort()
      .map((name) => join(folder, name));
  }

  async #loadFile(kind: Kind, file: string): Promise<LoadedRecord> {
    const extension = extname(file);
    const text = await this.#files.readFile(file, 'utf8');
    const id = basename(file, extension);
    const hash = createHash('sha256').update(text).digest('hex');
    const unchanged = this.#unchanged(kind, id, hash);
    if (unchanged !== undefined) return unchanged;
    if (extension === '.tick') {
      if (kind === 'templates') await this.#template(id, text);
      else await this.#task(id, { script: text });
      return { kind, id, topic: '', hash };
    }
    const value = extension === '.json' ? parseJson(Buffer.from(text), '') : parseYaml(text);
    const document = asObject(value, 'expected an object');
    if (kind === 'handlers') return { ...(await this.#handler(document)), hash };
    const taskId = optionalText(document, 'id') || id;
    await this.#task(taskId, {
      templateId: optionalText(document, 'template-id'),
      script: optionalText(document, 'script'),
      dbrps: readDbrps(document['dbrps']),
      vars: readVars(document['vars']),
      split: readSplit(document['split']),
    });
    return { kind, id: taskId, topic: '', hash };
  }

  // A task that has not changed must not be restarted because another file has. This can only be
  // told for files named after their definition; others are applied again, which changes nothing.
  #unchanged(kind: Kind, id: string, hash: string): LoadedRecord | undefined {
    const before = this.#loaded.get(`${kind}/ ${id}`);
    const { tasks, templates } = this.#options;
    const store = kind === 'tasks' ? tasks : templates;
    const isThere = kind !== 'handlers' && store.get(id) !== undefined;
    return before?.hash === hash && isThere ? before : undefined;
  }

  async #template(id: string, script: string): Promise<void> {
    const { templates } = this.#options;
    const before = templates.get(id);
    if (before === undefined) await templates.define({ id, script });
    else if (before.script !== script) await templates.patch(id, { script });
  }

  async #task(id: string, input: TaskInput): Promise<void> {
    const { tasks } = this.#options;
    if (tasks.get(id) === undefined) {
      await tasks.define({ ...input, id, status: 'enabled' });
      return;
    }
    // A running task keeps its definition until it is restarted.
    await tasks.patch(id, { ...input, status: 'enabled', restart: true });
  }

  async #handler(document: Readonly<Record<string, unknown>>): Promise<LoadedRecord> {
    const { alerts } = this.#options;
    const topic = optionalText(document, 'topic');
    if (topic === '') throw new InvalidRequest('must provide a topic');
    const spec = readHandlerSpec(document);
    try {
      alerts.handler(topic, spec.id);
      await alerts.replaceHandler(topic, spec.id, spec);
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      await alerts.createHandler(topic, spec);
    }
    return { kind: 'handlers', id: spec.id, topic };
  }

  async #deleteAbsent(present: ReadonlyMap<string, LoadedRecord>): Promise<void> {
    const { tasks, templates, alerts } = this.#options;
    const absent = [...this.#loaded.values()].filter(
      ({ kind, id, topic }) => !present.has(`${kind}/${topic} ${id}`),
    );
    for (const { kind, id, topic } of absent) {
      if (kind === 'tasks') await tasks.delete(id);
      else if (kind === 'templates') await templates.delete(id);
      else await alerts.deleteHandler(topic, id);
      await this.#loaded.remove(`${kind}/${topic} ${id}`);
    }
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

function optionalText(document: Readonly<Record<string, unknown>>, name: string): string {
  const value = document[name] ?? '';
  if (typeof value !== 'string') throw new InvalidRequest(`${name} must be a string`);
  return value;
}

/** `["db.rp"]`, quotes around either part allowed, or the form of the API. */
function readDbrps(value: unknown): readonly Dbrp[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new InvalidRequest('dbrps must be a list');
  return value.map((item: unknown) => {
    if (typeof item === 'object' && item !== null && 'db' in item && 'rp' in item) {
      return { db: String(item.db), rp: String(item.rp) };
    }
    const match = /^("(?:[^"\\]|\\.)*"|[^".]+)\.("(?:[^"\\]|\\.)*"|[^".]+)$/.exec(String(item));
    if (match === null) {
      throw new InvalidRequest(
        `does not contain a '.', it must be in the form "dbname"."rpname" where the quotes are optional. ${String(item)}`,
      );
    }
    const unquote = (text: string): string =>
      text.startsWith('"') ? text.slice(1, -1).replaceAll('\\"', '"') : text;
    return { db: unquote(match[1] ?? ''), rp: unquote(match[2] ?? '') };
  });
}
