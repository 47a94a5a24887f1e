// Structured logs on standard error: one JSON object a line, or readable lines on a terminal.
import { pino } from 'pino';
import type { Logger } from 'pino';

export type LogOptions = { readonly level: string };

/** Levels that `--log-level` accepts. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** The process's logger. Standard output stays free for the ready line and for what commands print. */
export function createLogger(options: LogOptions): Logger {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}
