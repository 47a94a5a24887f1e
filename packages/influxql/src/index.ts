// Public face of @tidemark/influxql: the syntax of the query language.
export type * from './ast.ts';
export { parseDuration } from './duration.ts';
export type { DurationResult } from './duration.ts';
export { isTime } from './is-time.ts';
export { MAX_DEPTH, MAX_OPERATORS, MAX_REGEX_LENGTH, MAX_TOKENS } from './limits.ts';
export type { ParseLimits } from './limits.ts';
export { ParseCache } from './parse-cache.ts';
export type { CachedParseResult } from './parse-cache.ts';
export { parseExpression, parseQuery } from './parse.ts';
export type { BindParameter, ParseExpressionResult, ParseOptions, ParseResult } from './parse.ts';
export { hideUrlPassword, printStatement } from './print.ts';
export type { PrintOptions } from './print.ts';
export { formatIdentifier, formatPath, quoteIdentifier, quoteRegex, quoteString } from './quote.ts';
export { redactInMessage, redactPasswords } from './redact.ts';
export { KEYWORDS } from './token.ts';
export type { Token, TokenKind } from './token.ts';
export { tokenize } from './tokenize.ts';
export type { EditorToken, TokenClass } from './tokenize.ts';
export {
  children,
  isLiteral,
  isSubquery,
  measurementsIn,
  measurementSources,
  rewrite,
  rewriteSelect,
  selectsOf,
  some,
  subqueriesIn,
  walk,
} from './walk.ts';
