// Where a service logs, from which level on and how lines look: the same keys for all services.
import { configKey } from './config-schema.ts';

/** Keys of a section `logging`. */
export const LOGGING_KEYS = {
  file: configKey.text(
    'STDERR',
    'STDERR, STDOUT or a path; a file is opened anew on SIGHUP, so that it can be rotated.',
  ),
  format: configKey.text(
    'auto',
    'How lines look; auto: text on a terminal, one JSON object a line elsewhere.',
    { allowed: ['auto', 'text', 'logfmt', 'json'] },
  ),
  level: configKey.text('info', 'Least important level that is logged.', {
    allowed: ['debug', 'info', 'warn', 'error', 'off', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'OFF'],
  }),
} as const;

/** The values of such a section. */
export type LoggingConfig = {
  readonly file: string;
  readonly format: string;
  readonly level: string;
};
