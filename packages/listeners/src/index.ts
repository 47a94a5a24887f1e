// Public interface of @tidemark/listeners: the protocols that the database and the task engine
// accept besides HTTP.
export type { ListenerCounters, ListenerLog, ListenerSink } from './batcher.ts';
export { LISTENER_KINDS } from './listener-kinds.ts';
export type { ListenerKind } from './listener-kinds.ts';
export type { ListenerPoint } from './listener-point.ts';
export { LISTENER_METRICS } from './metrics.ts';
export { PointSources } from './point-sources.ts';
export { openProtocolListeners } from './protocol-listeners.ts';
export { LISTENER_SECTIONS } from './sections.ts';
export type { ListenerConfig } from './sections.ts';
