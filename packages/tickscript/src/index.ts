// Public interface of @tidemark/tickscript: the syntax of the script language.
export type * from './ast.ts';
export { parseDuration } from './duration.ts';
export { formatExpression, formatFloat, formatScript } from './formatter.ts';
export { tokenize } from './lexer.ts';
export { MAX_DIAGNOSTICS } from './limits.ts';
export { parseLambda, parseScript } from './parser.ts';
export type { LambdaParseResult, ParseLambdaOptions, ParseResult } from './parser.ts';
export { checkRegexSyntax } from './regex-syntax.ts';
export { bytePosition } from './syntax-error.ts';
export type { SyntaxDiagnostic } from './syntax-error.ts';
export type { Token, TokenKind } from './token.ts';
export { checkLambda } from './lambda/check.ts';
export type { LambdaCheck, LambdaDiagnostic } from './lambda/check.ts';
export { failingParts, MATCH_SCOPE } from './lambda/failing-parts.ts';
export type { FailingPart, LambdaScope } from './lambda/failing-parts.ts';
export {
  callResultType,
  callTypeError,
  LAMBDA_FUNCTIONS,
  MATCH_FUNCTIONS,
} from './lambda/functions.ts';
export type { LambdaFunction, LambdaSignature } from './lambda/functions.ts';
export {
  binaryResultType,
  binaryTypeError,
  operatorClass,
  unaryResultType,
} from './lambda/types.ts';
export type { LambdaType, OperatorClass } from './lambda/types.ts';
