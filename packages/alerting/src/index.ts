// Public face of @tidemark/alerting: topics, events, handlers and their delivery.
export { AlertService } from './alert-service.ts';
export type { AlertServiceOptions, TopicView } from './alert-service.ts';
export { AlertStore } from './alert-store.ts';
export type { DeadLetter } from './alert-store.ts';
export { handlerIdOf } from './dead-letters.ts';
export type { LetterChoice } from './dead-letters.ts';
export type { AlertLog, DeliveryCount } from './attached-handlers.ts';
export { parseAddress } from './address.ts';
export { connectionCache } from './connection-cache.ts';
export type { DeliveryState } from './delivery.ts';
export { printDataJson, printEventJson, printFieldJson, printState, readState } from './event.ts';
export type { EventState, TopicEvent } from './event.ts';
export { compileGlob } from './glob.ts';
export type { Glob } from './glob.ts';
export { ALLOW_EVERYTHING } from './handler.ts';
export type {
  AccessPolicy,
  Closable,
  ConnectionCache,
  HandlerContext,
  HandlerKind,
  SectionSpec,
  ServiceTestSpec,
  TemplateScope,
} from './handler.ts';
export { checkTopicId, ID_BYTES_MAX, printHandlerSpec, readHandlerSpec } from './handler-spec.ts';
export type { HandlerSpec } from './handler-spec.ts';
export { resolveSecrets, showOption } from './handler-secrets.ts';
export type { HandlerPatch } from './handler-secrets.ts';
export { httpSender } from './http-sender.ts';
export type { HttpSender, IncomingResponse, OutgoingRequest, TlsOptions } from './http-sender.ts';
export { LEVELS, levelRank, parseLevel } from './level.ts';
export {
  convertOption,
  defaultOptions,
  durationMs,
  flag,
  holdsSecret,
  integer,
  isSet,
  map,
  printOption,
  strings,
  text,
  typeName,
} from './options.ts';
export type { JsonValue, Options, OptionSpec, OptionType, OptionValue } from './options.ts';
export { bodyTemplate } from './handlers/post.ts';
export { findHandlerKind, HANDLER_KINDS } from './registry.ts';
export type { Undeliverable } from './undeliverable.ts';
export { HIDDEN, hideSecret, hideUrlSecrets, isReference, isSecretHeader } from './secrets.ts';
export {
  bool,
  checkUrl,
  enabled,
  INSECURE_SKIP_VERIFY,
  list,
  secret,
  str,
  TLS_FILES,
  tlsOf,
} from './section-options.ts';
