// `tidemark task test DIR`: runs task tests in this process, in virtual time; no server is needed.
import { watch } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { messageOf, systemClock } from '@tidemark/core';
import type { Clock } from '@tidemark/core';
import type { TaskTestFailure, TaskTestResult } from '@tidemark/engine/task-test';
import { Command } from 'commander';

import { ExitStatus, UsageError } from '../exit.ts';
import { diffLines } from '../output/diff.ts';
import { junitXml } from '../output/junit.ts';
import { print, printJson } from '../output/table.ts';

type Flags = { readonly junit?: string; readonly json?: boolean; readonly watch?: boolean };

type FileResult = { readonly file: string; readonly tests: readonly TaskTestResult[] };

const EXTENSION = '.task-test';

/** Editors write a file in several steps; one run covers them all. */
const SETTLE_MS = 50;

/** The subcommand. */
export function taskTestCommand(finish: (status: number) => void): Command {
  return new Command('test')
    .description(
      'Run the task tests (*.task-test) of files and folders: scripts, points at virtual times, expectations.',
    )
    .argument('<path...>', 'files, or folders with everything below them')
    .option('--junit <file>', 'also write the results as JUnit XML')
    .option('--watch', 'run again whenever a test or a script changes')
    .option('--json', 'print JSON')
    .exitOverride()
    .action(async (paths: readonly string[], flags: Flags) => {
      const clock = systemClock();
      // Watching begins before the first run, so that changes during it count.
      const changes = flags.watch === true ? watchChanges(paths, clock) : undefined;
      const isPassed = await runAll(paths, flags, clock);
      finish(isPassed ? ExitStatus.Ok : ExitStatus.Failed);
      if (changes !== undefined) await runOnChanges(changes, () => runAll(paths, flags, clock));
    });
}

/** Runs and reports all tests; returns whether all passed. */
async function runAll(paths: readonly string[], flags: Flags, clock: Clock): Promise<boolean> {
  const files = (await Promise.all(paths.map(testFiles))).flat();
  if (files.length === 0) throw new UsageError(`no ${EXTENSION} files in ${paths.join(', ')}`);
  const results: FileResult[] = [];
  for (const file of [...new Set(files)].sort()) results.push(await runFile(file, clock));
  if (flags.json === true) printJson(results);
  else report(results);
  if (flags.junit !== undefined) await writeFile(flags.junit, junitXml(results.map(suiteOf)));
  return results.every(({ tests }) => tests.every(({ failures }) => failures.length === 0));
}

async function testFiles(path: string): Promise<readonly string[]> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    (cause: unknown) => {
      throw new UsageError(`cannot read ${path}`, { cause });
    },
  );
  if (!isFolder) return [path];
  const entries = await readdir(path, { recursive: true });
  return entries.filter((name) => name.endsWith(EXTENSION)).map((name) => join(path, name));
}

async function runFile(file: string, clock: Clock): Promise<FileResult> {
  // Loaded here, so that other commands start without the engine.
  const { runTaskTests } = await import('@tidemark/engine/task-test');
  const tests = await runTaskTests(await readFile(file, 'utf8'), {
    clock,
    readScript: (path) => readFileSync(resolve(dirname(file), path), 'utf8'),
  });
  return { file: relative('.', file), tests };
}

function report(results: readonly FileResult[]): void {
  let failedCount = 0;
  let checkCount = 0;
  const tests = results.flatMap((result) => result.tests);
  for (const { file, tests: ofFile } of results) {
    for (const { name, line, failures, checkCount: checks } of ofFile) {
      checkCount += checks;
      if (failures.length === 0) continue;
      failedCount++;
      print(`FAIL ${file}${name === '' ? '' : `:${line} ${name}`}`);
      for (const failure of failures) print(indented(failureText(file, failure)));
    }
  }
  const tookMs = tests.reduce((sum, one) => sum + one.tookMs, 0);
  print(
    `${tests.length - failedCount} passed, ${failedCount} failed, ` +
      `${checkCount} expectations in ${results.length} files, ${Math.round(tookMs)} ms`,
  );
}

function failureText(file: string, { line, message, expected, actual }: TaskTestFailure): string {
  return [`${file}:${line} ${message}`, ...diffLines(expected, actual)].join('\n');
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ');
}

function suiteOf({ file, tests }: FileResult): Parameters<typeof junitXml>[0][number] {
  const cases = tests.map(({ name, tookMs, failures }) => ({
    name: name === '' ? file : name,
    tookMs,
    failures: failures.map((failure) => ({
      message: failure.message,
      text: failureText(file, failure),
    })),
  }));
  return { name: file, cases };
}

/** Resolves after the next change, once a burst of changes has had time to end. */
type Changes = () => Promise<void>;

function watchChanges(paths: readonly string[], clock: Clock): Changes {
  let hasChanged = false;
  let wake: () => void = () => undefined;
  for (const path of paths) {
    watch(path, { recursive: true }, () => {
      hasChanged = true;
      wake();
    });
  }
  return async () => {
    if (!hasChanged) await new Promise<void>((resolveChange) => (wake = resolveChange));
    await clock.sleep(SETTLE_MS);
    hasChanged = false;
  };
}

/** Never resolves: the user ends it. */
async function runOnChanges(changes: Changes, run: () => Promise<unknown>): Promise<never> {
  for (;;) {
    await changes();
    try {
      await run();
    } catch (error) {
      // A file being replaced is absent for a moment; the next change reruns everything.
      process.stderr.write(`tidemark: ${messageOf(error)}\n`);
    }
  }
}
