// Structured logs: one JSON object a line, `key=value`, or readable lines on a terminal.
import { closeSync, openSync } from 'node:fs';
import { isatty } from 'node:tty';

import { AppError, messageOf } from '@tidemark/core';
import { PRIVATE_FILE } from '@tidemark/process';
import type { LoggingConfig } from '@tidemark/settings';
import { pino } from 'pino';
import type { DestinationStream, Logger } from 'pino';

import { UsageError } from './exit.ts';
import { logfmtForm, textForm } from './output/log-line.ts';
import type { LogForm } from './output/log-line.ts';

/** Levels that `--log-level` accepts. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** Loggers of the services of this process; those with the same destination share it. */
export class Loggers {
  readonly #places = new Map<string, Place>();

  /** A logger for a section `logging`. Throws `UsageError` when its file cannot be opened. */
  open({ file, format, level }: LoggingConfig): Logger {
    const place = this.#places.get(file) ?? openPlace(file);
    this.#places.set(file, place);
    const form = formOf(format, place);
    const stream =
      form === undefined ? place : { write: (line: string) => place.write(form(line)) };
    return pino(
      {
        level: level.toLowerCase() === 'off' ? 'silent' : level.toLowerCase(),
        base: null,
        timestamp: pino.stdTimeFunctions.isoTime,
        formatters: { level: (label) => ({ level: label }) },
        serializers: { err: describeFailure },
      },
      stream,
    );
  }

  /** Reopens files, which may have been rotated. */
  reopen(): void {
    for (const place of this.#places.values()) place.reopen?.();
  }
}

/** Stacks are for bugs; refusals, timeouts and closed connections are normal at every stop. */
function describeFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const code = codeOf(error) ?? codeOf(error.cause);
  if (!(error instanceof AppError) && code === undefined) return pino.stdSerializers.err(error);
  const { name: type, message } = error;
  return { type, message, ...(code === undefined ? {} : { code }) };
}

const codeOf = (error: unknown): string | undefined =>
  error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;

type Place = DestinationStream & { readonly isTerminal: boolean; readonly reopen?: () => void };

/** Standard output is reserved for the ready line and for output of commands, unless configured. */
const DESCRIPTORS: Readonly<Record<string, number>> = { STDERR: 2, STDOUT: 1 };

function openPlace(file: string): Place {
  const fd = DESCRIPTORS[file];
  if (fd !== undefined) {
    const standard = pino.destination({ fd, sync: true });
    return { write: (line) => standard.write(line), isTerminal: isatty(fd) };
  }
  requireWritable(file);
  const opened = pino.destination({ dest: file, append: true, sync: true, mode: PRIVATE_FILE });
  return {
    write: (line) => opened.write(line),
    isTerminal: false,
    reopen: () => opened.reopen(),
  };
}

function requireWritable(file: string): void {
  try {
    closeSync(openSync(file, 'a', PRIVATE_FILE));
  } catch (error) {
    throw new UsageError(
      `the log cannot be written: ${messageOf(error)}; choose another file with logging.file`,
      { cause: error },
    );
  }
}

function formOf(format: string, place: Place): LogForm | undefined {
  switch (format) {
    case 'text':
      return textForm;
    case 'logfmt':
      return logfmtForm;
    case 'json':
      return undefined;
    default:
      return place.isTerminal ? textForm : undefined;
  }
}
