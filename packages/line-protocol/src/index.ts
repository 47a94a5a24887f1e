// Public face of @tidemark/line-protocol: parse and print the write format.
export { cutLines } from './cut-lines.ts';
export { LineParser, parseLines } from './parser.ts';
export type { ParsedLines, ParseLinesOptions, LineValues } from './parser.ts';
export { lineErrorMessage, signedValue } from './point.ts';
export type { LineError, LineFieldValue, LinePoint, LineSeries } from './point.ts';
export { parsePrecision, truncateToPrecision, unknownPrecision } from './precision.ts';
export { printFieldValue, printLine, printLineOfSeries } from './print.ts';
export type { PrintablePoint } from './print.ts';
export { parseSeries, SeriesCache } from './series.ts';
export { countTimedLines } from './timed-lines.ts';
