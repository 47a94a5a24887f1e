// Id, message and details of alert events: templates over the event.
import type { FieldValue } from '@tidemark/core';
import type { AlertOptions } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Point } from '../data/point.ts';
import { Batch, outputValue } from '../data/point.ts';
import type { Series } from '../data/series.ts';
import { StartError } from '../node.ts';
import type { NodeContext } from '../node.ts';
import type { AlertEvent, AlertLevelName, ResultRow } from '../services.ts';
import { JSON_FUNCTIONS } from '../template/functions.ts';
import { TemplateSyntaxError } from '../template/lex.ts';
import { Template, TemplateExecutionError } from '../template/template.ts';
import type { TemplateValue } from '../template/value.ts';
import { DetailsWriter } from './alert-details.ts';
import type { DetailsParts } from './alert-details.ts';
import { TemplateDuration, TemplateMap, TemplateStruct, TemplateTime } from '../template/value.ts';

export type EventParts = {
  readonly level: AlertLevelName;
  readonly time: bigint;
  readonly durationNanos: bigint;
  readonly isRecoverable: boolean;
  /** The point that decided the level. */
  readonly point: Point;
  readonly message: Point | Batch;
  readonly data: readonly ResultRow[];
};

/** The common part of all events of a series in a group. */
type KnownSeries = {
  readonly group: Group;
  /** The first fields of the data of templates. */
  readonly common: ReadonlyMap<string, TemplateValue>;
  readonly id: string;
  /** See `DetailsWriter`. */
  readonly detailsStart: string;
};

/** About a kilobyte each. */
const KNOWN_SERIES_MAX = 1024;

export class AlertTexts {
  readonly #ctx: NodeContext<AlertOptions>;
  readonly #id: Template;
  readonly #message: Template;
  readonly #details: Template;
  readonly #server: TemplateStruct;
  readonly #known = new Map<Series, KnownSeries>();
  /** Present unless the details are the script's own. */
  readonly #writer: DetailsWriter | undefined;

  constructor(ctx: NodeContext<AlertOptions>) {
    this.#ctx = ctx;
    const { id, message, details } = alertTemplates(ctx.options);
    this.#id = id;
    this.#message = message;
    this.#details = details;
    this.#writer = this.#details.isJsonOfData ? new DetailsWriter() : undefined;
    const { hostname, clusterId, serverId } = ctx.task.services.server;
    this.#server = new TemplateStruct('kapacitor.serverInfo', {
      Hostname: hostname,
      ClusterID: clusterId,
      ServerID: serverId,
    });
  }

  /** Id of the group that the point opens. Most groups never have an event: nothing is kept. */
  id({ series, group }: Point): string {
    const known = this.#known.get(series);
    if (known !== undefined && known.group === group) return known.id;
    return this.#run(this.#id, struct('idInfo', this.#commonOf(series, group)));
  }

  event(parts: EventParts): AlertEvent {
    const { point, message, level } = parts;
    const series = message instanceof Batch ? message.series : point.series;
    const known = this.#seriesOf(series, message.group);
    const { common, id } = known;
    const data = new Map(common);
    data.set('ID', id);
    data.set('Fields', new TemplateMap(this.#fieldValues(point), undefined));
    data.set('Level', level);
    data.set('Time', new TemplateTime(parts.time));
    data.set('Duration', new TemplateDuration(parts.durationNanos));
    const text = this.#run(this.#message, struct('messageInfo', data));
    return {
      id,
      message: text,
      details: this.#detailsOf(known, data, { ...parts, message: text }),
      time: parts.time,
      durationNanos: parts.durationNanos,
      level,
      isRecoverable: parts.isRecoverable,
      data: parts.data,
      context: {
        name: series.name,
        taskName: this.#ctx.task.taskId,
        group: message.group.id,
        category: this.#ctx.options.category,
        tags: series.tags,
        fields: fieldsOf(point),
      },
    };
  }

  #detailsOf(
    { detailsStart }: KnownSeries,
    data: ReadonlyMap<string, TemplateValue>,
    parts: DetailsParts,
  ): string {
    const written = this.#writer?.write(detailsStart, parts);
    if (written !== undefined) return written;
    const more = new Map(data).set('Message', parts.message);
    return this.#run(this.#details, struct('detailsInfo', more));
  }

  #seriesOf(series: Series, group: Group): KnownSeries {
    const known = this.#known.get(series);
    if (known !== undefined && known.group === group) return known;
    const common = this.#commonOf(series, group);
    const id = this.#run(this.#id, struct('idInfo', common));
    const start = this.#writer?.start(struct('detailsInfo', new Map(common).set('ID', id)));
    const made = { group, common, id, detailsStart: start ?? '' };
    if (this.#known.size >= KNOWN_SERIES_MAX) this.#known.clear();
    this.#known.set(series, made);
    return made;
  }

  #commonOf(series: Series, group: Group): ReadonlyMap<string, TemplateValue> {
    return new Map<string, TemplateValue>([
      ['Name', series.name],
      ['TaskName', this.#ctx.task.taskId],
      ['Group', group.text],
      ['Tags', new TemplateMap(Object.entries(series.tags), '', this.#isTagless(group))],
      ['ServerInfo', this.#server],
    ]);
  }

  // A batch without groups has no tags at all, while a point without tags has an empty set of them.
  #isTagless(group: Group): boolean {
    return this.#ctx.wants === 'batch' && group.dimensions.tagNames.length === 0;
  }

  /** An event with only an id, for setting a topic's state. */
  emptyEvent(id: string): AlertEvent {
    return {
      id,
      message: '',
      details: '',
      time: 0n,
      durationNanos: 0n,
      level: 'OK',
      isRecoverable: !this.#ctx.options.isWithoutRecoveries,
      data: [],
      context: {
        name: '',
        taskName: this.#ctx.task.taskId,
        group: '',
        category: this.#ctx.options.category,
        tags: {},
        fields: {},
      },
    };
  }

  *#fieldValues(point: Point): Iterable<readonly [string, TemplateValue]> {
    for (const field of point.schema.fields) {
      const value = field.read(point);
      const isDuration = field.type === 'duration';
      yield [field.name, isDuration ? new TemplateDuration(value as bigint) : value];
    }
  }

  #run(which: Template, data: TemplateStruct): string {
    try {
      return which.execute(data);
    } catch (cause) {
      if (cause instanceof TemplateExecutionError) this.#ctx.abort(cause.message);
      throw cause;
    }
  }
}

function struct(typeName: string, fields: ReadonlyMap<string, TemplateValue>): TemplateStruct {
  return new TemplateStruct(`kapacitor.${typeName}`, fields);
}

/** Assigned one by one: `Object.fromEntries` costs a call into the engine for each. */
function fieldsOf(point: Point): AlertEvent['context']['fields'] {
  const fields: Record<string, FieldValue | null> = {};
  for (const field of point.schema.sorted) {
    const value = outputValue(field.type, field.read(point));
    if (field.name !== '__proto__') fields[field.name] = value;
    // Assignment would not create this as a field.
    else Object.defineProperty(fields, field.name, { value, enumerable: true });
  }
  return fields;
}

/** Templates of an alert node's texts. Throws `StartError`. */
export function alertTemplates({ id, message, details }: AlertOptions): {
  readonly id: Template;
  readonly message: Template;
  readonly details: Template;
} {
  return {
    id: template('id', id),
    message: template('message', message),
    details: template('details', details, true),
  };
}

function template(name: string, source: string, isHtml = false): Template {
  try {
    return new Template(name, source, isHtml ? { isHtml, functions: JSON_FUNCTIONS } : {});
  } catch (cause) {
    if (cause instanceof TemplateSyntaxError) {
      throw new StartError(cause.message, { cause, properties: [name] });
    }
    throw cause;
  }
}
