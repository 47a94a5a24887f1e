// Starts programs that the configuration permits. They inherit none of the service's files and only
// the environment that programs need to run at all, and they do not outlive the thread that started
// them, however it ends.
import { spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process';
import { accessSync, closeSync, constants, openSync, readdirSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

/** Variables that affect how programs run, and contain nothing about the service. */
const PASSED_ON = /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|SystemRoot)$/;

/** Flag of a descriptor that programs do not inherit, in octal digits as the kernel prints them. */
const CLOSE_ON_EXEC = 0o2000000;

const STANDARD_COUNT = 3;

export type ProgramOptions = {
  /** Variables besides those that every program gets. */
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Ends the program. */
  readonly signal?: AbortSignal | undefined;
};

export type Program = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * Starts a program with pipes to its standard streams. It emits `error` when it cannot be started.
 */
export function startProgram(
  file: string,
  programArguments: readonly string[],
  { environment, signal }: ProgramOptions = {},
): Program {
  const guard = canRun(file) ? endsWithUs() : [];
  const [command = file, ...rest] = [...guard, file, ...programArguments];
  const nothing = openSync('/dev/null', 'r+');
  try {
    const child: ChildProcess = spawn(command, rest, {
      env: { ...passedOn(process.env), ...environment },
      stdio: ['pipe', 'pipe', 'pipe', ...coverLeaks(nothing)],
      signal,
    });
    // The first three are pipes.
    return child as Program;
  } finally {
    closeSync(nothing);
  }
}

function passedOn(environment: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => PASSED_ON.test(name)));
}

// Libraries open files that programs would inherit, such as that of the engine's metadata, and Node
// cannot mark them. But Node can pass another file in their place; at any other position it has a
// descriptor of its own.
function coverLeaks(nothing: number): ('ignore' | number)[] {
  const places: ('ignore' | number)[] = [];
  for (const descriptor of descriptors()) {
    if (descriptor < STANDARD_COUNT || !isLeaking(descriptor)) continue;
    while (places.length < descriptor - STANDARD_COUNT) places.push('ignore');
    places[descriptor - STANDARD_COUNT] = nothing;
  }
  return places;
}

/** Open descriptors; none if the system does not list them. */
function descriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fdinfo').map(Number);
  } catch {
    return [];
  }
}

function isLeaking(descriptor: number): boolean {
  try {
    const info = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)?.[1] ?? '', 8);
    return (flags & CLOSE_ON_EXEC) === 0;
  } catch {
    // Closed meanwhile: it is the one by which the list was read.
    return false;
  }
}

// When the service is killed, nothing else ends the programs. Without this system tool, they live
// on.
let guardFile: string | undefined;
function endsWithUs(): readonly string[] {
  guardFile ??= process.platform === 'linux' ? (find('setpriv') ?? '') : '';
  return guardFile === '' ? [] : [guardFile, '--pdeathsig', 'KILL', '--'];
}

/** A missing program must fail as such, not as the tool that would start it. */
function canRun(file: string): boolean {
  return file.includes('/') ? isExecutable(file) : find(file) !== undefined;
}

function find(name: string): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
