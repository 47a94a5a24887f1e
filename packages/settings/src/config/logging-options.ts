// Options of logging (target, level, format), the same for all services.
import { oneOf, str } from '../option-rows.ts';

/** Options of a section `logging`. */
export const LOGGING_OPTIONS = {
  file: str(
    'STDERR, STDOUT or a path; a file is opened again on SIGHUP, so that it can be rotated.',
    'STDERR',
  ),
  format: oneOf(
    'Format of lines; auto: text on a terminal, one JSON object per line elsewhere.',
    ['auto', 'text', 'logfmt', 'json'],
    'auto',
  ),
  level: oneOf(
    'Least important level that is logged.',
    ['debug', 'info', 'warn', 'error', 'off', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'OFF'],
    'info',
  ),
};

/** The values of such a section. */
export type LoggingConfig = {
  readonly file: string;
  readonly format: string;
  readonly level: string;
};
