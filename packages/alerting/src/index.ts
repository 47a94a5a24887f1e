// Public face of @tidemark/alerting: topics, events, handlers and their delivery.
export { AlertService } from './alert-service.ts';
export type { AlertServiceOptions, TopicView } from './alert-service.ts';
export { AlertHistory } from './alert-history.ts';
export type { LevelChange } from './alert-history.ts';
export { AlertStore } from './alert-store.ts';
export type { AlertEntries } from './alert-entries.ts';
export type { DeadLetter } from './alert-store.ts';
export { handlerIdOf } from './dead-letters.ts';
export type { LetterChoice } from './dead-letters.ts';
export type { AlertLog, DeliveryCount } from './attached-handlers.ts';
export { connectionCache } from './connection-cache.ts';
export { NOT_LEADING } from './delivery.ts';
export type { DeliveryState } from './delivery.ts';
export { printDataJson, printState, readState } from './event.ts';
export type { EventState, TopicEvent } from './event.ts';
export { defineTest } from './handler.ts';
export type {
  Closable,
  HandlerContext,
  HandlerKind,
  ServiceTestSpec,
  TemplateScope,
} from './handler.ts';
export { checkTopicId, ID_BYTES_MAX, printHandlerSpec, readHandlerSpec } from './handler-spec.ts';
export type { HandlerSpec } from './handler-spec.ts';
export type { HandlerPatch } from './handler-secrets.ts';
export { HISTORY_LENGTH, QUEUE_LENGTH } from './limits.ts';
export { LEVELS, parseLevel } from './level.ts';
export { bodyTemplate, HTTP_POST_SECTION } from './handlers/post.ts';
export { findHandlerKind, HANDLER_KINDS } from './registry.ts';
export { refusedReach } from './script-handler.ts';
export type { Undeliverable } from './undeliverable.ts';
