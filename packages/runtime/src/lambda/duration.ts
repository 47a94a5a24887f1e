// Duration texts, from the package that owns them.
export { formatClockDuration, formatDuration, parseDuration } from '@tidemark/tickscript';
