// The recorded database cases: their names, and replaying them against a server.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

type RecordedRequest = {
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body?: string;
};

export type RecordedCase = {
  readonly group: string;
  readonly pre?: readonly RecordedRequest[];
  readonly request: RecordedRequest;
};

/** A case that is answered otherwise; lines are counted from 0. */
type FoundDifference = { readonly line: number; readonly want: string; readonly got: string };

/** A file of this folder. */
export function pathOf(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** Lines of JSON. */
export async function readLines<T>(path: string): Promise<readonly T[]> {
  const text = await readFile(path, 'utf8');
  return text
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line): T => JSON.parse(line));
}

function describeRequest({ method, path, params, body }: RecordedRequest): string {
  const written = Object.entries(params).map(([name, value]) => `${name}=${value}`);
  return [method, path, ...written, ...(body === undefined ? [] : [JSON.stringify(body)])].join(
    ' ',
  );
}

/** The name of a case in the list: its group and all its requests. */
export function nameOf({ group, pre = [], request }: RecordedCase): string {
  return [group, ...[...pre, request].map(describeRequest)].join(' | ');
}

/** Replays the cases of a file; those that are answered otherwise. `report` is a file to make. */
export async function replayCases(
  url: string,
  file: string,
  report: string,
): Promise<readonly FoundDifference[]> {
  const options = ['--url', url, '--check', file, '--report', report];
  await promisify(execFile)(process.execPath, [pathOf('record-oracle-cases.mjs'), ...options], {
    maxBuffer: 64 * 1024 * 1024,
  });
  return readLines<FoundDifference>(report);
}
