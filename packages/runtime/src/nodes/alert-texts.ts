// Id, message and details of alert events: templates over what is known of the event.
import type { AlertOptions } from '@tidemark/pipeline';
import type { Group } from '../data/group.ts';
import type { Point } from '../data/point.ts';
import { Batch, outputValue } from '../data/point.ts';
import { StartError } from '../node.ts';
import type { NodeContext } from '../node.ts';
import type { AlertEvent, AlertLevelName, ResultRow } from '../services.ts';
import { JSON_FUNCTIONS } from '../template/functions.ts';
import { TemplateSyntaxError } from '../template/lex.ts';
import { Template, TemplateExecutionError } from '../template/template.ts';
import type { TemplateValue } from '../template/value.ts';
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

export class AlertTexts {
  readonly #ctx: NodeContext<AlertOptions>;
  readonly #id: Template;
  readonly #message: Template;
  readonly #details: Template;
  readonly #server: TemplateStruct;

  constructor(ctx: NodeContext<AlertOptions>) {
    this.#ctx = ctx;
    const { id, message, details } = ctx.options;
    this.#id = template('id', id);
    this.#message = template('message', message);
    this.#details = template('details', details, true);
    const { hostname, clusterId, serverId } = ctx.task.services.server;
    this.#server = new TemplateStruct('kapacitor.serverInfo', {
      Hostname: hostname,
      ClusterID: clusterId,
      ServerID: serverId,
    });
  }

  /** Id of the group that the point opens. */
  id(point: Point): string {
    return this.#run(
      this.#id,
      this.#struct('idInfo', this.#common(point.series.name, point.group, point.series.tags)),
    );
  }

  event(parts: EventParts): AlertEvent {
    const { point, message, level } = parts;
    const isBatch = message instanceof Batch;
    const name = isBatch ? message.name : point.series.name;
    const tags = isBatch ? message.series.tags : point.series.tags;
    const fields = Object.fromEntries(
      point.schema.sorted.map((field) => [field.name, outputValue(field.type, field.read(point))]),
    );
    const common = this.#common(name, message.group, tags);
    const id = this.#run(this.#id, this.#struct('idInfo', common));
    const more: Record<string, TemplateValue> = {
      ...common,
      ID: id,
      Fields: new TemplateMap(this.#fieldValues(point), undefined),
      Level: level,
      Time: new TemplateTime(parts.time),
      Duration: new TemplateDuration(parts.durationNanos),
    };
    const text = this.#run(this.#message, this.#struct('messageInfo', more));
    const details = this.#run(
      this.#details,
      this.#struct('detailsInfo', { ...more, Message: text }),
    );
    return {
      id,
      message: text,
      details,
      time: parts.time,
      durationNanos: parts.durationNanos,
      level,
      isRecoverable: parts.isRecoverable,
      data: parts.data,
      context: {
        name,
        taskName: this.#ctx.task.taskId,
        group: message.group.id,
        category: this.#ctx.options.category,
        tags,
        fields,
      },
    };
  }

  /** An event that only carries an id, for setting a topic's memory. */
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

  #common(
    name: string,
    group: Group,
    tags: Readonly<Record<string, string>>,
  ): Record<string, TemplateValue> {
    return {
      Name: name,
      TaskName: this.#ctx.task.taskId,
      Group: group.text,
      Tags: new TemplateMap(Object.entries(tags), ''),
      ServerInfo: this.#server,
    };
  }

  #struct(typeName: string, fields: Readonly<Record<string, TemplateValue>>): TemplateStruct {
    return new TemplateStruct(`kapacitor.${typeName}`, fields);
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
